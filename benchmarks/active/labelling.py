"""The page of `steelyard active label` under load: `python -m benchmarks.active.labelling`.

How long from an answer to the next question, over loopback, with a pool of a million documents; how much
memory 100,000 answers take. It writes its section of docs/labelling.md.
"""

import http.client
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import numpy as np

from benchmarks.support import sections

PAGE = Path(__file__).parents[2] / "docs/labelling.md"
_COMMAND = [sys.executable, "-c", "from steelyard.cli import main; main()", "active", "label"]
_WORDS, _VOCABULARY, _AT_ONCE = 30, 20_000, 10_000
_HEADERS = {"Content-Type": "application/json"}


def write_documents(path: Path, count: int) -> None:
    """Texts of thirty words, frequent as words are; those of the second class have some of their own."""
    rng = np.random.default_rng(0)
    shares = 1.0 / np.arange(3, _VOCABULARY + 3)
    names = np.array([f"w{word}" for word in range(_VOCABULARY)])
    with path.open("w", encoding="utf-8") as file:
        file.write("id,message\n")
        for first in range(0, count, _AT_ONCE):
            words = rng.choice(_VOCABULARY, (_AT_ONCE, _WORDS), p=shares / shares.sum())
            words[::5, : _WORDS // 3] = rng.integers(0, 200, (_AT_ONCE // 5, _WORDS // 3)) * 100 + 1
            rows = enumerate(names[words].tolist(), first)
            file.writelines(f"{number},{' '.join(row)}\n" for number, row in rows)


def truth(text: str) -> str:
    return "spam" if sum(int(word[1:]) % 100 == 1 for word in text.split()) > 3 else "ham"


class Page:
    """One client, as a browser would be."""

    def __init__(self, address: str) -> None:
        found = re.match(r"http://([^:]+):(\d+)(/.*)", address)
        assert found is not None
        self._base = found[3]
        self._connection = http.client.HTTPConnection(found[1], int(found[2]))
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.who = {"client": "bench", "annotator": "bench"}

    def ask(self, name: str, given: dict[str, object] | None = None) -> dict[str, object]:
        if given is None:
            self._connection.request("GET", f"{self._base}api/{name}?client=bench&annotator=bench")
        else:
            body = json.dumps(self.who | given)
            self._connection.request("POST", f"{self._base}api/{name}", body, _HEADERS)
        return dict(json.loads(self._connection.getresponse().read()))

    def echo(self) -> float:
        """The seconds of a request for which nothing is done: what the machine and the web server take."""
        began = time.perf_counter()
        self._connection.request("GET", f"{self._base}icon.svg")
        self._connection.getresponse().read()
        return time.perf_counter() - began

    def session(self, count: int, pause: float, echoes: list[float] | None = None) -> list[float]:
        """Answer so many questions; the seconds from each answer to the next question."""
        state, taken = self.ask("next"), []
        for _ in range(count):
            question = state["question"]
            if question is None:
                break
            assert isinstance(question, dict)
            text = "".join(piece for piece, _ in question["texts"][0][1])
            time.sleep(pause)
            began = time.perf_counter()
            state = self.ask("label", {"item": question["item"], "label": truth(text)})
            taken.append(time.perf_counter() - began)
            if echoes is not None:
                echoes.append(self.echo())
        return taken


@contextmanager
def served(file: Path, budget: int) -> Iterator[tuple[str, int]]:
    """The address of a page, and the number of its process."""
    given = ["--classes", "ham,spam", "--budget", str(budget), "--no-open", "--port", "0"]
    server = subprocess.Popen([*_COMMAND, str(file), *given], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        address = next(line.strip() for line in server.stderr if line.startswith("http://"))
        yield address, server.pid
    finally:
        server.terminate()
        server.wait()


def memory(process: int) -> float:
    """Of a process, in MB."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def quantile(taken: list[float], share: float) -> float:
    return 1e3 * sorted(taken)[int(share * (len(taken) - 1))]


@click.command()
@click.option("--documents", default=1_000_000, show_default=True)
@click.option("--answers", default=1000, show_default=True, help="For each pause.")
@click.option(
    "--long", "many", default=100_000, show_default=True, help="Answers of the run that measures memory."
)
@click.option("--write/--no-write", default=True, show_default=True)
def main(documents: int, answers: int, many: int, write: bool) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "documents.csv"
        write_documents(file, documents)
        began = time.perf_counter()
        with served(file, budget=max(many, 10 * answers)) as (address, process):
            start, page = time.perf_counter() - began, Page(address)
            page.session(50, 0.0)
            for pause in (0.2, 0.05, 0.0):
                echoes: list[float] = []
                taken = page.session(answers, pause, echoes)
                figures = [quantile(taken, share) for share in (0.5, 0.9, 0.99, 1.0)]
                figures.append(quantile(echoes, 0.99))
                rows.append([f"{1e3 * pause:g} ms", f"{len(taken):,}", *(f"{each:.1f}" for each in figures)])
                click.echo(" ".join(rows[-1]))
            points = []
            done = answers * 3 + 50
            while done < many and (taken := page.session(min(many // 10, many - done), 0.0)):
                done += len(taken)
                points.append([f"{done:,}", f"{memory(process):,.0f}", f"{quantile(taken, 0.99):.1f}"])
                click.echo(" ".join(points[-1]))
    text = (
        f"{documents:,} documents of {_WORDS} words; reading them and starting took {start:.0f} s. "
        f"Milliseconds from an answer to the next question, over loopback, by how long one thinks; and of a "
        f"request for which the server does nothing, in between:\n\n"
        + sections.table(["pause", "answers", "median", "90 %", "99 %", "longest", "echo, 99 %"], rows)
        + (
            "\n\nMemory of the server, and the 99th percentile without any pause:\n\n"
            + sections.table(["answers", "MB", "ms"], points)
            if points
            else ""
        )
        + f"\n\n{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; the load "
        f"average was {os.getloadavg()[1]:.0f}. With more work than cores, these are not figures of an idle "
        "machine."
    )
    if write:
        sections.write(PAGE, "benchmarks/active/labelling.py", text)


if __name__ == "__main__":
    main()
