"""Memory over long runs: `python -m fuzzing.soak.memory [--write]`. Processes are looked at from outside.

The slope is of a line through the later half of the looks, when everything has been loaded.
"""

import argparse
import http.client
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from signal import SIGTERM

import numpy as np

from benchmarks.support import sections
from fuzzing.__main__ import PAGE
from fuzzing.soak.processes import Child, start
from fuzzing.soak.scenarios import Data
from fuzzing.soak.server import PredictionService
from steelyard.labelling.server import return_large_blocks
from steelyard.labelling.session import LabellingSession
from tests.cli.running import rows as vw_rows
from tests.labelling.projects import answer, begin

_LOOKS = 40
_PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
Look = tuple[int, float]
"""How much was done, and how many MB were resident then."""


def resident(child: Child) -> float:
    return int(Path(f"/proc/{child.number}/statm").read_text().split()[1]) * _PAGE_SIZE / 1e6


def train_pipe(folder: Path, rows: int) -> Iterator[Look]:
    """Rows without an end, from a pipe."""
    some = vw_rows(1000).encode()
    its_in, into = os.pipe()
    command = ["train", "-", "--format", "vw", "--bits", 18, "--threads", 1, "-o", folder / "m"]
    child = start(command, stdin=its_in, before=lambda: os.close(into))
    os.close(its_in)
    with os.fdopen(into, "wb") as pipe:
        for done in range(1000, rows + 1, 1000):
            pipe.write(some)
            if done % (rows // _LOOKS) == 0:
                yield done, resident(child)
    assert child.wait() == 0, child.said()


def serve_requests(folder: Path, requests: int) -> Iterator[Look]:
    data = Data(folder)
    service = PredictionService(data.model, data.table)
    service.begin(folder)
    child = service.start()
    body = data.table.read_bytes()[:2000].rpartition(b"\n")[0] + b"\n"
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=20.0)) as connection:
        for done in range(1, requests + 1):
            connection.request("POST", "/predict", body)
            assert connection.getresponse().read()
            if done % (requests // _LOOKS) == 0:
                yield done, resident(child)
    child.kill(SIGTERM)
    assert child.wait() == 0, child.said()


def label_answers(folder: Path, answers: int) -> Iterator[Look]:
    """A session of several hours for a person, without the web server, which `serve` is like."""
    its_in, into = os.pipe()
    its_out, out = os.pipe()

    def work() -> None:
        return_large_blocks()
        with begin(folder, answers * 2, budget=answers * 3 // 2) as project:
            session = LabellingSession(project)
            session.start()
            for _ in range(_LOOKS):
                assert len(answer(session, answers // _LOOKS)) == answers // _LOOKS
                assert session.worker.wait()
                os.write(out, b"\n")
                os.read(its_in, 1)
            session.close()

    child = start(work)
    os.close(out)
    for look in range(_LOOKS):
        assert os.read(its_out, 1), child.said()
        yield answers // _LOOKS * (look + 1), resident(child)
        os.write(into, b"\n")
    assert child.wait() == 0, child.said()
    for each in (its_in, into, its_out):
        os.close(each)


RUNS = {
    "train, from a pipe": ("rows", train_pipe, 8_000_000),
    "serve": ("requests", serve_requests, 40_000),
    "active label": ("answers", label_answers, 20_000),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzzing.soak.memory")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual length of the runs")
    parser.add_argument("--write", action="store_true", help=f"write the figures into {PAGE}")
    given = parser.parse_args()
    table = []
    for name, (what, run, most) in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            looks = list(run(Path(folder), int(most * given.share)))
        half = np.array(looks[len(looks) // 2 :])
        slope = float(np.polyfit(half[:, 0] / 1000.0, half[:, 1], 1)[0])
        found = {"command": name, what: looks[-1][0], "MB": round(looks[-1][1]), "slope": round(slope, 4)}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
        table.append([name, f"{looks[-1][0]:,} {what}", f"{looks[-1][1]:.0f}", f"{slope:z.3f}"])
    if given.write:
        heads = ["command", "run", "MB at the end", "MB per 1,000 more"]
        sections.write(PAGE, "memory", sections.table(heads, table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
