"""Memory: how much is available, how much the models of a training need, and what to say before it begins."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

from steelyard._messages import counted
from steelyard._parameters import Message, Parameter
from steelyard.engine import lane_block
from steelyard.learn.batched_loss import WIDTH
from steelyard.model import Settings

_GUESS = 4 << 30  # where the system does not say what is available
_CGROUP = Path("/sys/fs/cgroup")
_LARGE = 0.25  # of what is available: models that need more are worth a word
_FEWER_BITS = 2


class LargeModelWarning(UserWarning):
    """The models that are about to be learned need a large part of the memory that is available.

    Examples
    --------
    If that is known:

    >>> import warnings, steelyard
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", steelyard.LargeModelWarning)
    """


def available() -> int:
    """The bytes that can be had without pushing anything out, by the system and by its control group."""
    found = [free for free in (_of_system(), _of_group()) if free is not None]
    return min(found, default=_GUESS)


def _of_system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError):
        return None


def _of_group() -> int | None:
    try:
        most = int((_CGROUP / "memory.max").read_text())  # or the word "max"
        return max(most - int((_CGROUP / "memory.current").read_text()), 0)
    except (OSError, ValueError):
        return None


def format_bytes(size: int) -> str:
    """Bytes for people."""
    scale = min(int(math.log(max(size, 1), 1024)), 4)
    return f"{size / 1024**scale:.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[scale]}"


def needed(settings: Sequence[Settings], classes: int, features: int) -> int:
    """The bytes of an engine's models: by far the most of what learning files needs."""
    count = len(settings) * (classes if classes > 2 else 1)
    side_by_side = count > 1 and lane_block.fits_in_lanes(settings[0])
    lanes = -(-count // WIDTH) * WIDTH if side_by_side else count
    of_each = lane_block.bytes_a_lane if side_by_side else lane_block.bytes_alone
    return lanes * (of_each(settings[0], features) + lane_block.bytes_of_l1(settings[0], features))


def advice(settings: Sequence[Settings], classes: int, bits: int) -> list[Message]:
    """A sentence where that is a large part of what is available."""
    wanted, free = needed(settings, classes, 1 << bits), available()
    if wanted <= _LARGE * free:
        return []
    what = f"{classes} classes" if classes > 2 else counted(len(settings), "model")
    verb = "needs" if max(classes, 2) * len(settings) == 2 else "need"
    fewer = max(bits - _FEWER_BITS, 1)
    advice = Message(
        f"{what} of 2^{bits} coefficients {verb} {format_bytes(wanted)} of memory, and "
        f"{format_bytes(free)} are available: ", Parameter("bits", fewer), " needs "
        f"{format_bytes(needed(settings, classes, 1 << fewer))}",
    )  # fmt: skip
    if classes > 2:
        advice = Message(
            advice, ", and ", Parameter("labels", "*,NAME"), " learns one class against the rest"
        )
    return [advice]
