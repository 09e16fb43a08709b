"""Commands that are ended at random moments: `python -m fuzzing.soak [--kills N] [--write]`, or `make soak`.

SIGKILL, SIGTERM or SIGINT comes anywhere between the start of a command and its end; then it is run again,
as a person would. It must end with the bytes of a run that nobody disturbed, and leave no temporary file.
Every run is a fork of this process, which has loaded everything: to start Python anew would take longer.
"""

import argparse
import functools
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import sections
from fuzzing.__main__ import PAGE
from fuzzing.commands import must
from steelyard.cli import main as steelyard
from steelyard.engine import file_rows
from steelyard.filtering import inputs, run
from steelyard.io.stream import Stream
from tests.cli.running import rows as vw_rows
from tests.filtering.corpus import rows, write_jsonl

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_LONGEST = 120.0  # seconds, after which a command hangs


@dataclass(frozen=True)
class Scenario:
    """A command in an empty folder; how it is gone on with, and what it writes."""

    command: Callable[[Path], list[Any]]
    again: Callable[[Path], list[Any]]
    stdin: bytes = b""
    ignored: tuple[str, ...] = ()
    """Files that only an undisturbed run must not be compared by."""


def start(arguments: list[Any], stdin: bytes = b"", limit: int | None = None) -> int:
    """The number of a process that runs this command; `limit` bytes is the largest file it may write."""
    child = os.fork()
    if child:
        return child
    with tempfile.TemporaryFile() as given, open(os.devnull, "w") as null:  # noqa: PTH123
        given.write(stdin)
        given.seek(0)
        os.dup2(given.fileno(), 0)
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writes fail, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            steelyard([str(each) for each in arguments])
        except SystemExit as ending:
            os._exit(ending.code if isinstance(ending.code, int) else 1)
        except BaseException:  # noqa: BLE001 - a traceback is a finding
            os._exit(99)
    os._exit(0)


def wait(child: int) -> int:
    ends = time.monotonic() + _LONGEST
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("it hangs")


def content(folder: Path, ignored: tuple[str, ...]) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): path for path in files}
    return {
        name: path.read_bytes() for name, path in found.items() if not any(part in name for part in ignored)
    }


def scenarios(data: Path) -> dict[str, Scenario]:
    file, table, corpus, model = data / "rows.vw", data / "rows.jsonl", data / "corpus", data / "model"
    file.write_text(vw_rows(400, weights=True))
    write_jsonl(table, rows(400, 1))
    for number in range(3):
        write_jsonl(corpus / f"{number}.jsonl.gz", rows(200, number))
    must("train", table, "--label", "quality", "--bits", 10, "-o", model)
    train = [
        "train",
        file,
        "--passes",
        60,
        "--holdout",
        9,
        "--bits",
        10,
        "--threads",
        1,
        "--checkpoint-every",
        50,
    ]
    sweep = ["sweep", file, "--learning-rate", "0.1,0.5,1,2", "--passes", 20, "--bits", 10, "--threads", 1]

    def resumed(folder: Path) -> list[Any]:
        checkpoint = folder / "m.checkpoint"
        if checkpoint.exists():
            return ["train", file, "--resume", checkpoint, "-o", folder / "m"]
        return [*train, "-o", folder / "m"]

    def filtered(folder: Path) -> list[Any]:
        return ["filter", model, corpus, "-o", folder / "kept", "--keep", "p>=0.5", "--threads", 1]

    def swept(folder: Path) -> list[Any]:
        return [
            *sweep,
            "--resume",
            folder / "state",
            "-o",
            folder / "s.csv",
            "--save",
            folder / "best",
            "--force",
        ]

    def converted(folder: Path) -> list[Any]:
        return ["convert", *[file] * 20, "-o", folder / "o.arrow", "--bits", 10]

    return {
        "train": Scenario(lambda folder: [*train, "-o", folder / "m"], resumed),
        "sweep": Scenario(swept, swept, ignored=("s.csv",)),
        "convert": Scenario(converted, lambda folder: [*converted(folder), "--force"]),
        "filter": Scenario(filtered, filtered),
    }


def soak(scenario: Scenario, kills: int, chance: random.Random, folder: Path) -> Counter[str]:
    """Raises an AssertionError at the first difference."""
    whole = folder / "whole"
    whole.mkdir()
    began = time.monotonic()
    assert wait(start(scenario.command(whole))) == 0
    took = time.monotonic() - began
    expected, counts = content(whole, scenario.ignored), Counter[str]()
    place = folder / "run"
    while sum(counts.values()) < kills:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        next_command = scenario.command
        for _ in range(chance.choice([1, 1, 2, 3])):
            child = start(next_command(place))
            time.sleep(chance.uniform(0.0, took))
            which = chance.choice(SIGNALS)
            os.kill(child, which)
            code = wait(child)
            assert code in (0, 1, 128 + which, -which), code
            counts[which.name] += 1
            if which is not signal.SIGKILL and code:
                rest = [path.name for path in place.rglob("*.tmp")]
                assert not rest, rest
            next_command = scenario.again
        if content(place, scenario.ignored) != expected:
            code = wait(start(scenario.again(place)))
            assert code == 0, code
        found = content(place, scenario.ignored)
        assert found == expected, sorted(found.keys() ^ expected.keys()) or "other bytes"
    return counts


def full_disk(scenario: Scenario, tries: int, chance: random.Random, folder: Path) -> int:
    """Files may not grow beyond a limit: the command says so, and leaves no temporary file."""
    whole = folder / "whole"
    largest = max(path.stat().st_size for path in whole.rglob("*") if path.is_file())
    for _ in range(tries):
        place = folder / "full"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        code = wait(start(scenario.command(place), limit=chance.randrange(largest)))
        assert code in (0, 1), code
        rest = [path.name for path in place.rglob("*.tmp")]
        assert not rest, rest
    return tries


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzzing.soak")
    parser.add_argument("names", nargs="*", help="of commands; all of them by default")
    parser.add_argument("--kills", type=int, default=50, help="of each command")
    parser.add_argument("--seed", type=int, default=random.getrandbits(32))
    parser.add_argument("--write", action="store_true", help=f"write the figures into {PAGE}")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    file_rows.Stream = functools.partial(Stream, block_size=2000)  # type: ignore[attr-defined, assignment]
    inputs.BLOCK, run._CHECKPOINT = 2048, 2
    table = []
    with tempfile.TemporaryDirectory() as data:
        for name, scenario in scenarios(Path(data)).items():
            if given.names and name not in given.names:
                continue
            with tempfile.TemporaryDirectory() as folder:
                counts = soak(scenario, given.kills, chance, Path(folder))
                full = full_disk(scenario, max(given.kills // 5, 3), chance, Path(folder))
            sys.stdout.write(json.dumps({"command": name, **counts, "full disk": full}) + "\n")
            sys.stdout.flush()
            table.append([name, *(f"{counts[each.name]:,}" for each in SIGNALS), f"{full:,}"])
    if given.write:
        heads = ["command", *(each.name for each in SIGNALS), "full disk"]
        sections.write(PAGE, "soak", sections.table(heads, table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
