"""Run the targets: `python -m fuzzing [NAME…] [--seconds S] [--inputs N] [--write]`.

Each target runs in a process of its own. An exception, a crash, a hang and a difference from the slow
reference are findings. Their inputs are kept in build/fuzz/; `python -m fuzzing NAME --input FILE` tries one
again.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.support import sections
from fuzzing import targets
from fuzzing.commands import IN_MEMORY
from fuzzing.worker import COUNT, CURRENT, save

FINDINGS, PAGE = Path("build/fuzz"), Path("docs/hardening.md")
_START, _HANG = 900.0, 60.0  # seconds: to compile at first, and for one batch


@dataclass
class Tally:
    name: str
    inputs: int
    seconds: float
    findings: int


def fuzz(name: str, seconds: float, most: int) -> Tally:
    """Workers one after another: another one goes on where one has died."""
    before, began, tried = findings(name), time.monotonic(), 0
    ends = began + seconds
    while tried < most and (left := ends - time.monotonic()) > 0.0 and findings(name) - before < 20:
        tried += _one_worker(name, left, most - tried)
        if time.monotonic() - began > seconds + _START:
            break
    return Tally(name, tried, time.monotonic() - began, findings(name) - before)


def _one_worker(name: str, seconds: float, most: int) -> int:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder_name:
        folder = Path(folder_name)
        given = [name, random.getrandbits(60), seconds, most, folder, FINDINGS.absolute()]
        command = [sys.executable, "-m", "fuzzing.worker", *map(str, given)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            why = _watch(process, folder)
            assert process.stderr is not None
            said = process.stderr.read().decode(errors="replace")
        if why is None and process.returncode:
            why = f"ended with {process.returncode}"
        if why is not None:
            save(FINDINGS, name, _content(folder / CURRENT), f"{why}\n{said}")
        return int(_content(folder / COUNT) or 0)


def _watch(process: subprocess.Popen[bytes], folder: Path) -> str | None:
    """Wait for its end; a batch that takes too long is ended, too."""
    began = time.time()
    while process.poll() is None:
        time.sleep(0.1)
        counted = (folder / COUNT).exists()
        since = (folder / CURRENT).stat().st_mtime if counted else began
        if time.time() - since > (_HANG if counted else _START):
            process.kill()
            return "hangs"
    return None


def findings(name: str) -> int:
    return sum(path.stem.rpartition("-")[0] == name for path in FINDINGS.glob("*.input"))


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def add_up(tallies: list[Tally]) -> dict[str, Tally]:
    """With those of earlier runs, until build/fuzz/ is removed."""
    path = FINDINGS / "tally.json"
    kept = {each["name"]: Tally(**each) for each in json.loads(_content(path) or "[]")}
    for now in tallies:
        before = kept.get(now.name, Tally(now.name, 0, 0.0, 0))
        sums = before.inputs + now.inputs, before.seconds + now.seconds, before.findings + now.findings
        kept[now.name] = Tally(now.name, *sums)
    FINDINGS.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(each) for each in kept.values()]))
    return dict(sorted(kept.items()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description="Hostile input, target by target.")
    parser.add_argument("names", nargs="*", help="of targets; all of them by default")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each target")
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="at most, for each target")
    parser.add_argument("--jobs", type=int, default=2, help="targets at once")
    parser.add_argument("--input", type=Path, help="try this file again with the named target")
    parser.add_argument("--write", action="store_true", help=f"write the figures into {PAGE}")
    given = parser.parse_args()
    known = targets.find()
    unknown = set(given.names) - set(known)
    if unknown:
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    names = given.names or sorted(known)
    if given.input is not None:
        with tempfile.TemporaryDirectory() as folder:
            known[names[0]](Path(folder)).check(given.input.read_bytes())
        return 0
    tallies = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for each in pool.map(lambda name: fuzz(name, given.seconds, given.inputs), names):
            sys.stdout.write(f"{each.name}: {each.inputs:,} inputs, {each.findings} findings\n")
            sys.stdout.flush()
            tallies.append(each)
    total = add_up(tallies)
    if given.write:
        heads = ["target", "inputs tried", "minutes", "findings"]
        rows = [
            [each.name, f"{each.inputs:,}", f"{each.seconds / 60.0:.1f}", str(each.findings)]
            for each in total.values()
        ]
        sections.write(PAGE, "fuzzing", sections.table(heads, rows))
    return int(any(each.findings for each in tallies))


if __name__ == "__main__":
    sys.exit(main())
