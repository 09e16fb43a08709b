"""Run the scenarios: `python -m fuzzing.soak [NAME…] [--kills N] [--jobs N] [--write]`, or `make soak`.

Each is killed so many times, at random moments and by each signal in turn, and tried a fifth as often under
each other circumstance. What goes wrong ends its scenario, and is told with its traceback.
"""

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from signal import Signals
from typing import Protocol

from benchmarks.support import sections
from fuzzing.__main__ import PAGE
from fuzzing.commands import IN_MEMORY
from fuzzing.soak.circumstances import Trials
from fuzzing.soak.processes import SIGNALS
from fuzzing.soak.scenarios import SCENARIOS, Data

_TRIALS = ("full disk", "read-only", "two writers", "clock back")
_FEWEST = 3


class Scenario(Protocol):
    """In a folder of its own. An AssertionError says what went wrong."""

    def begin(self, folder: Path) -> None:
        """Load everything, and run it undisturbed."""

    def kill(self, folder: Path, chance: Random, next_signal: Callable[[], Signals]) -> None:
        """One story with one or several kills, each by the next signal."""

    def trials(self, folder: Path) -> Trials:
        """Other circumstances, by the names of columns."""


def soak(name: str, kills: int, seed: int) -> tuple[Counter[str], float]:
    """Returns how often it was killed and tried, and the seconds that the kills took."""
    chance, counts = Random(f"{seed} {name}"), Counter[str]()

    def next_signal() -> Signals:
        which = SIGNALS[sum(counts.values()) % len(SIGNALS)]
        counts[which.name] += 1
        return which

    with (
        tempfile.TemporaryDirectory(dir=IN_MEMORY) as data,
        tempfile.TemporaryDirectory(dir=IN_MEMORY) as own,
    ):
        folder = Path(own)
        scenario: Scenario = SCENARIOS[name](Data(Path(data)))
        scenario.begin(folder)
        began = time.monotonic()
        while sum(counts.values()) < kills:
            scenario.kill(folder, chance, next_signal)
        took = time.monotonic() - began
        for trial, attempt in scenario.trials(folder).items():
            for _ in range(max(kills // 5, _FEWEST)):
                attempt(folder, chance)
                counts[trial] += 1
    return counts, took


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzzing.soak")
    parser.add_argument("names", nargs="*", help="of commands; all of them by default")
    parser.add_argument("--kills", type=int, default=50, help="of each command")
    parser.add_argument("--jobs", type=int, default=2, help="commands at once")
    parser.add_argument("--seed", type=int, default=random.getrandbits(32))
    parser.add_argument("--write", action="store_true", help=f"write the figures into {PAGE}")
    given = parser.parse_args()
    unknown = set(given.names) - set(SCENARIOS)
    if unknown:
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    columns, rows, failed = [each.name for each in SIGNALS] + list(_TRIALS), [], []
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("fork")) as pool:
        names = given.names or list(SCENARIOS)
        futures = {name: pool.submit(soak, name, given.kills, given.seed) for name in names}
        for name, future in futures.items():
            try:
                counts, took = future.result()
            except AssertionError as error:
                failed.append(name)
                sys.stderr.write(f"{name}: {error.__cause__ or error}\n")  # the cause has the traceback
                continue
            sys.stdout.write(json.dumps({"command": name, **counts, "seconds": round(took, 1)}) + "\n")
            sys.stdout.flush()
            rows.append([name, *(f"{counts[each]:,}" if each in counts else "–" for each in columns)])
    if given.write and not failed:
        sections.write(PAGE, "soak", sections.table(["command", *columns], rows))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
