"""Memory: how much is available, how much models need, and advice before a training begins."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from steelyard import feature_columns
from steelyard._messages import counted
from steelyard._parameters import Message, Parameter
from steelyard.array_table import LANE_PARTS
from steelyard.engine import lane_block, lane_layout
from steelyard.learn.batched_loss import WIDTH
from steelyard.model import Model
from steelyard.settings import Settings

_GUESS = 4 << 30  # bytes, where the system does not say what is available
_CGROUP = Path("/sys/fs/cgroup")
_LARGE = 0.25  # models that need more than this share of it get advice
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
    """Return the bytes that can be had without swapping, by the system and by its control group."""
    free = [size for size in (_of_system(), _of_group()) if size is not None]
    return min(free, default=_GUESS)


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
    """Format a number of bytes for people."""
    scale = min(int(math.log(max(size, 1), 1024)), 4)
    return f"{size / 1024**scale:.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[scale]}"


def needed(settings: Sequence[Settings], classes: int, features: int) -> int:
    """Return the bytes of an engine's models, which need by far the most when files are learned."""
    count = len(settings) * (classes if classes > 2 else 1)
    side_by_side = count > 1 and lane_block.fits_in_lanes(settings[0])
    lanes = -(-count // WIDTH) * WIDTH if side_by_side else count
    of_each = bytes_a_lane if side_by_side else bytes_alone
    return lanes * (of_each(settings[0], features) + bytes_of_l1(settings[0], features))


def advice(settings: Sequence[Settings], classes: int, bits: int) -> list[Message]:
    """Return a sentence if the models need a large part of the memory that is available."""
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


def bytes_a_lane(settings: Settings, features: int) -> int:
    """Return the bytes of a lane, with the gains that it holds for weights that are not whole numbers."""
    numbers = lane_layout.numbers_a_feature(settings) * np.dtype(settings.dtype).itemsize
    return features * (numbers + _bytes_of_gains(settings))


def bytes_alone(settings: Settings, features: int) -> int:
    """Return the bytes of a model that learns alone, without those of L1."""
    one = Model(settings, 1)
    numbers = sum(array.of(one).nbytes for _, array in LANE_PARTS)
    return features * (numbers + _bytes_of_gains(settings))


def _bytes_of_gains(settings: Settings) -> int:
    return 8 if settings.adaptive and settings.update == "invariant" else 0


def bytes_of_l1(settings: Settings, features: int) -> int:
    """Return the bytes of L1: for each feature its last payment, and the time of it if coefficients are averaged."""
    return 8 * features * ((settings.l1 > 0.0) + (settings.l1 > 0.0 and settings.average_power > 0))


def bytes_in_common(settings: Settings, features: int) -> int:
    """Return the bytes that lanes share, and that a single model also has: the origins of columns."""
    has_origins = settings.scaling == "standardized" and settings.bias
    return feature_columns.bytes_needed(features, settings.dtype) if has_origins else 0
