"""Files: first byte to last example, beside Vowpal Wabbit and scikit-learn; other sizes; memory.

    python -m benchmarks.speed.files [--rounds 5] [--large]

What is compared runs in turns in one process, on the same file. Vowpal Wabbit parses in a thread of
its own, so its time is taken on the wall, as is ours with two threads; with one thread of ours that
favours it. Whole processes are timed apart, start-up and all.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks.speed import vowpal
from benchmarks.support.generate import DataSet, generate
from benchmarks.support.timing import WALL, Contender, Row, Stopwatch, Table, Target, alternate, ratio
from steelyard import losses
from steelyard.features import Names
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.learner import Learner
from steelyard.model import Settings

RATE = 0.5
BITS = 18  # as Vowpal Wabbit's, so that both have the same collisions
ONE, TWO, READ, SKLEARN = "steelyard, one thread", "steelyard, two threads", "steelyard", "scikit-learn"


def learned(path: Path, threads: int) -> float:
    """As `steelyard train` does it, names and all; the progressive loss."""
    names = Names(1 << BITS)
    reading = InputSpec("vw", BITS)
    learner = Learner(Settings(losses.by_name("logistic"), scaling="plain", learning_rate=RATE), 1 << BITS)
    for parsed in Stream(
        [path], reading.reader(names), names=names, loss=learner.model.settings.loss, threads=threads
    ):
        learner.learn(parsed.examples)
    return learner.model.progressive_loss


def learning(name: str, path: Path, threads: int) -> Contender:
    def run() -> Mapping[str, float]:
        watch = Stopwatch()
        learned(path, threads)
        return watch.times(name)

    return run


def vw_text(title: str, path: Path, rounds: int) -> Table:
    """The same settings and the same hash: the same progressive loss."""
    size = path.stat().st_size / 1e6
    contenders = [learning(ONE, path, 1), learning(TWO, path, 2)]
    if vowpal.installed():
        contenders.append(vowpal.learning(vowpal.TEXT, path, "logistic", RATE, []))
    times = alternate(contenders, rounds)
    notes = [f"{size:.0f} MB; on the wall, medians of {rounds} alternating rounds."]
    rows = []
    if vowpal.installed():
        other = vowpal.TEXT + WALL
        for name, bound in ((ONE, 2.5), (TWO, 4.0)):
            figure = ratio(times, name + WALL, other)
            rows.append(
                _row(name, vowpal.TEXT, size, times[name + WALL], times[other], figure, Target(bound))
            )
        notes.append(
            f"Progressive loss: ours {learned(path, 2):.6f}, "
            f"Vowpal Wabbit's {vowpal.average_loss(path, 'logistic', RATE):.6f}."
        )
    return Table(f"Vowpal Wabbit text, first byte to last example: {title}", "ratio", rows, tuple(notes))


def repeated(path: Path, size: float, into: Path) -> Path:
    """A file over and over, until it has so many bytes."""
    text = path.read_bytes()
    with into.open("wb") as out:
        while out.tell() < size:
            out.write(text)
    return into


def svmlight(data: DataSet, folder: Path, rounds: int) -> Table:
    """Reading alone, on one thread each."""
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    path = folder / "generated.svm"
    part = data.head(len(data.labels) // 4)
    dump_svmlight_file(part.rows, part.labels, str(path), zero_based=True)
    size = path.stat().st_size / 1e6

    def ours() -> Mapping[str, float]:
        watch = Stopwatch()
        for _ in Stream([path], InputSpec("svmlight", BITS).reader()):
            pass
        return watch.times(READ)

    def theirs() -> Mapping[str, float]:
        watch = Stopwatch()
        load_svmlight_file(str(path))
        return watch.times(SKLEARN)

    times = alternate([ours, theirs], rounds)
    row = _row(
        "reading, one thread",
        SKLEARN,
        size,
        times[READ],
        times[SKLEARN],
        ratio(times, READ, SKLEARN),
        Target(15.0),
    )
    return Table("svmlight, reading alone", "ratio", [row], (f"{size:.0f} MB; processor time.",))


def sizes(data: DataSet, folder: Path) -> Table:
    """Rows a second must not fall, nor memory grow, with the size of the file; a process for each."""
    once = folder / "generated.vw"
    rows = []
    first = 0.0
    for times in (1, 4, 16):
        path = folder / f"times-{times}.vw"
        with path.open("wb") as out:
            for _ in range(times):
                with once.open("rb") as text:
                    shutil.copyfileobj(text, out)
        result, peak = _train(path)
        speed = result["rows_per_second"]
        first = first or speed
        what = f"{times} × ({path.stat().st_size / 1e6:.0f} MB)"
        rows.append(
            Row(what, "rows a second, 1 ×", f"{speed:,.0f}", f"{first:,.0f}", speed / first, Target(0.85))
        )
        rows.append(Row(what, "peak memory, MB", f"{peak:.0f}", "", peak, Target(500.0, at_least=False)))
        path.unlink()
    return Table("Larger files", "figure", rows, ("One process each, two threads.",))


def whole_process(folder: Path) -> Table:
    """All of it, start-up included, on 2 GB."""
    path = repeated(folder / "generated.vw", 2e9, folder / "large.vw")
    pairs = []
    for _ in range(2):
        began = time.perf_counter()
        _train(path)
        ours = time.perf_counter() - began
        command = [sys.executable, "-m", "vowpalwabbit", *vowpal.options("logistic", RATE), "-d", str(path)]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        pairs.append((ours, time.perf_counter() - began))
    path.unlink()
    figure = median(theirs / ours for ours, theirs in pairs)
    row = Row(
        "whole process, 2 GB", "Vowpal Wabbit", f"{median(a for a, _ in pairs):.1f} s",
        f"{median(b for _, b in pairs):.1f} s", figure, Target(2.0),
    )  # fmt: skip
    return Table("A large file", "ratio", [row])


# What a process says of its memory counts from its start, which rusage does not: it begins as a copy of us.
_TRAIN = """
import sys
from steelyard.cli import main
try:
    main()
finally:
    sys.stderr.write(open("/proc/self/status").read())
"""


def _train(path: Path) -> tuple[dict[str, float], float]:
    """`steelyard train --json` in a new process: what it says, and its peak memory in MB."""
    command = [
        sys.executable, "-c", _TRAIN, "train", str(path),
        "--json", "--threads", "2",
        "--loss", "logistic", "--scaling", "plain", "--learning-rate", str(RATE), "--bits", str(BITS),
    ]  # fmt: skip
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result, float(done.stderr.partition("VmHWM:")[2].split()[0]) / 1024.0


def _row(
    what: str,
    against: str,
    size: float,
    ours: list[float],
    theirs: list[float],
    figure: float,
    target: Target,
) -> Row:
    def speed(seconds: list[float]) -> str:
        return f"{size / median(seconds):.0f} MB/s"

    return Row(what, against, speed(ours), speed(theirs), figure, target)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument(
        "--large", action="store_true", help="also the sizes and the 2 GB file: needs 4 GB of disk"
    )
    parser.add_argument("--markdown", type=Path, help="write the tables to this file")
    given = parser.parse_args()
    console = Console()
    data = generate(given.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        once = vowpal.write_text(data, folder / "generated.vw")
        tables = [vw_text("short decimal numbers", once, given.rounds)]
        powers = Path(os.environ.get("STEELYARD_DATA", ".")) / "vw" / "rcv1_small.dat"
        if powers.exists():
            tables.append(
                vw_text(
                    "numbers such as 6.2699720e-02",
                    repeated(powers, 2e8, folder / "powers.vw"),
                    given.rounds,
                )
            )
        tables.append(svmlight(data, folder, given.rounds))
        if given.large:
            tables.append(sizes(data, folder))
            if vowpal.installed():
                tables.append(whole_process(folder))
    for table in tables:
        table.show(console)
    if given.markdown:
        given.markdown.write_text("\n".join(table.markdown() for table in tables))


if __name__ == "__main__":
    main()
