"""One target in a process of its own, so that whoever started it sees a crash or a hang, too."""

import contextlib
import hashlib
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

from fuzzing import targets

CURRENT, COUNT = "current", "count"
_MEMORY = 12 << 30  # bytes of addresses: a size that a file merely claims must not be allocated
_MOST = 20  # findings of one worker, after which it stops


def save(findings: Path, target: str, data: bytes, why: str) -> None:
    findings.mkdir(parents=True, exist_ok=True)
    name = f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    (findings / f"{name}.input").write_bytes(data)
    (findings / f"{name}.txt").write_text(why)


def work(name: str, seed: int, seconds: float, most: int, folder: Path, findings: Path) -> None:
    """Until the time is over, or `most` inputs were tried."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    chance, current, tried = random.Random(seed), folder / CURRENT, 0
    places: set[tuple[str, str, int | None]] = set()
    with tempfile.TemporaryDirectory(dir=folder) as own:
        target = targets.find()[name](Path(own))
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and tried < most and len(places) < _MOST:
            data = target.draw(chance)
            current.write_bytes(data)
            try:
                tried += target.check(data)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                frame = traceback.extract_tb(error.__traceback__)[-1]
                place = type(error).__name__, frame.filename, frame.lineno
                if place not in places:
                    places.add(place)
                    save(findings, name, data, traceback.format_exc())
            (folder / COUNT).write_text(str(tried))


if __name__ == "__main__":
    name, seed, seconds, most, folder, findings = sys.argv[1:]
    os.nice(5)
    with contextlib.suppress(KeyboardInterrupt):
        work(name, int(seed), float(seconds), int(most), Path(folder), Path(findings))
    os._exit(0)  # servers on threads end with the process
