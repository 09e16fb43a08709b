"""How fast a model answers over HTTP and through a pipe: `python -m benchmarks.speed.serving`.

It writes its tables into docs/serving.md.
"""

import http.client
import json
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import click

from benchmarks.support import sections

PAGE = Path(__file__).parents[2] / "docs/serving.md"
_COMMAND = [sys.executable, "-c", "from steelyard.cli import main; main()"]
_WORDS = 30  # features of a row


def lines(count: int, seed: int = 0) -> list[bytes]:
    """Rows of Vowpal Wabbit's text with words."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        words = [draw.randrange(5000) for _ in range(_WORDS)]
        label = 1 if sum(word % 7 for word in words) > 3 * _WORDS else -1
        rows.append(f"{label} |w {' '.join(f'w{word}' for word in words)}\n".encode())
    return rows


def train(folder: Path, rows: list[bytes]) -> Path:
    """A model of these rows."""
    path, model = folder / "rows.vw", folder / "rows.model"
    path.write_bytes(b"".join(rows))
    subprocess.run([*_COMMAND, "train", str(path), "-o", str(model)], check=True, stdout=subprocess.DEVNULL)
    return model


def serve_command(model: Path) -> list[str]:
    return [*_COMMAND, "serve", str(model), "--port", "0"]


@contextmanager
def served(command: list[str]) -> Iterator[int]:
    """A server, started by a command that prints its address; its port."""
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = re.search(r":(\d+)/predict", server.stderr.readline())
        assert found is not None
        yield int(found[1])
    finally:
        server.terminate()
        server.wait()


def requests(port: int, bodies: list[bytes]) -> list[float]:
    """The seconds that each request takes, on one connection."""
    client, taken = http.client.HTTPConnection("127.0.0.1", port), []
    for body in bodies:
        began = time.perf_counter()
        client.request("POST", "/predict", body)
        answer = client.getresponse().read()
        taken.append(time.perf_counter() - began)
        assert answer.count(b"\n") == body.count(b"\n")
        json.loads(answer[: answer.index(b"\n")])
    client.close()
    return taken


def http_rows(port: int, rows: list[bytes], seconds: float) -> Iterator[list[str]]:
    for clients, batch in ((1, 1), (8, 1), (1, 100), (1, 10_000), (2, 10_000)):
        bodies = [b"".join(rows[k : k + batch]) for k in range(0, len(rows), batch)]
        share, taken, began = max(len(bodies) // 20, 1), [], time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            while time.perf_counter() - began < seconds:
                for each in pool.map(lambda part: requests(port, part), [bodies[:share]] * clients):
                    taken += each
        wall = time.perf_counter() - began
        latency = sorted(taken)[int(0.99 * (len(taken) - 1))]
        yield [
            f"{clients}", f"{batch:,}", f"{len(taken) / wall:,.0f}", f"{batch * len(taken) / wall:,.0f}",
            f"{1e3 * median(taken):.2f}", f"{1e3 * latency:.2f}",
        ]  # fmt: skip


def pipe_latency(model: Path, rows: list[bytes]) -> float:
    """Seconds from a line to its answer, through `predict -`."""
    command = [*_COMMAND, "predict", str(model), "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        taken = []
        for row in rows:
            began = time.perf_counter()
            talk.stdin.write(row)
            talk.stdout.readline()
            taken.append(time.perf_counter() - began)
        talk.stdin.close()
    return median(taken[len(taken) // 10 :])


def pipe_speed(model: Path, path: Path) -> tuple[float, float]:
    """Rows a second from a file, and from `cat` of it, the start of the process included."""
    count = path.read_bytes().count(b"\n")
    found = []
    for command in ("{} predict {} {} > /dev/null", "cat {2} | {0} predict {1} - > /dev/null"):
        shell = command.format(f"{sys.executable} -c '{_COMMAND[-1]}'", model, path)
        began = time.perf_counter()
        subprocess.run(shell, shell=True, check=True)
        found.append(count / (time.perf_counter() - began))
    return found[0], found[1]


@click.command()
@click.option("--seconds", default=5.0, show_default=True, help="For each row of the table.")
@click.option("--rows", default=20_000, show_default=True, help="Different rows.")
@click.option(
    "--page", type=click.Path(path_type=Path), default=PAGE, show_default=True, help="Where to write."
)
def main(seconds: float, rows: int, page: Path) -> None:
    """Measure, and write the tables into the page."""
    with tempfile.TemporaryDirectory(prefix="steelyard-serving-") as folder:
        data = lines(rows)
        model = train(Path(folder), data)
        with served(serve_command(model)) as port:
            requests(port, data[:50])
            found = list(http_rows(port, data, seconds))
        latency = pipe_latency(model, data[: min(rows, 2000)])
        large = Path(folder) / "large.vw"
        large.write_bytes(b"".join(data) * max(int(seconds * 20_000 // rows * 10), 1))
        from_file, from_pipe = pipe_speed(model, large)
    heads = ["clients", "lines a request", "requests/s", "rows/s", "median, ms", "99 %, ms"]
    text = (
        f"{sections.table(heads, found)}\n\n"
        f"Rows have {_WORDS} words; the clients are Python threads, on the same cores as the server "
        f"({platform.machine()}, Python {platform.python_version()}).\n\n"
        f"Through `predict -`: {1e3 * latency:.1f} ms from a line to its answer. "
        f"Where nobody waits, a pipe is about as fast as a file: {from_pipe:,.0f} rows/s by `cat`, "
        f"{from_file:,.0f} from the file, with the start of the process."
    )
    sections.write(page, "benchmarks.speed.serving", text)
    click.echo(text)


if __name__ == "__main__":
    main()
