"""Rounds: how many models can learn at once in the memory there is. Planned, and told, before it begins."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard._messages import counted
from steelyard.engine import lane_block, memory_needs
from steelyard.engine.memory_needs import available, format_bytes
from steelyard.engine.one_vs_rest import BYTES_A_LANE
from steelyard.learn.batched_loss import WIDTH
from steelyard.model import Settings

_SHARE = 0.5  # of the memory that is available
_FOR_MODELS = 0.75  # of what a sweep may use; the rest is for rows
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True)
class Plan:
    """The numbers of the models that learn together, and what their weights need at most."""

    rounds: list[list[int]]
    bytes_used: int
    limit: int

    def describe(self) -> str:
        count = sum(map(len, self.rounds))
        models = counted(count, "model")
        if len(self.rounds) == 1:
            return f"{models} in one round, {format_bytes(self.bytes_used)} of weights"
        return (
            f"{models} in {len(self.rounds)} rounds of {format_bytes(self.bytes_used)} of weights at most "
            f"(the limit is {format_bytes(self.limit)}): as often the rows are gone through"
        )


def plan(settings: Sequence[Settings], features: int, classes: int, memory: int) -> Plan:
    """Plan as few rounds as fit, each with models that can learn side by side."""
    limit = int(_FOR_MODELS * memory)
    rounds: list[list[int]] = []
    used = [0]
    for numbers, size in _units(settings, features, classes if classes > 2 else 1):
        if size > limit:
            raise ValueError(
                f"{counted(len(numbers), 'model')} with {features:,} features need "
                f"{format_bytes(size)}, and the weights of a sweep may take {format_bytes(limit)}: "
                "allow more memory, or have fewer features (fewer bits)"
            )
        if not rounds or used[-1] + size > limit:
            rounds.append([])
            used.append(0)
        rounds[-1] += numbers
        used[-1] += size
    return Plan([sorted(numbers) for numbers in rounds], max(used), limit)


def for_rows(memory: int) -> int:
    """The bytes of rows that may be kept, so that a file is read once."""
    return memory - int(_FOR_MODELS * memory)


def _units(settings: Sequence[Settings], features: int, classes: int) -> Iterator[tuple[list[int], int]]:
    """Models that fill whole vectors of lanes, and their bytes; those that learn alone, one by one."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    alone = []
    for number, each in enumerate(settings):
        if lane_block.fits_in_lanes(each):
            alike.setdefault((lane_block.kind(each), each.update), []).append(number)
        else:
            alone.append(number)
    together = WIDTH // math.gcd(WIDTH, classes)
    beside = BYTES_A_LANE if classes > 1 else 0
    for numbers in alike.values():
        each_lane = memory_needs.bytes_a_lane(settings[numbers[0]], features) + beside
        shared = memory_needs.bytes_in_common(settings[numbers[0]], features)
        for start in range(0, len(numbers), together):
            unit = numbers[start : start + together]
            padded = -(-len(unit) * classes // WIDTH) * WIDTH
            yield unit, padded * each_lane + shared
    for number in alone:
        each = settings[number]
        own = memory_needs.bytes_alone(each, features) + memory_needs.bytes_in_common(each, features)
        yield [number], classes * (own + memory_needs.bytes_of_l1(each, features) + beside)


def memory_of(given: int | str | None) -> int:
    """Bytes: as given, in words such as "4G", or a share of what is available."""
    if given is None:
        return int(_SHARE * available())
    if isinstance(given, str):
        match = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)(i?b)?\s*", given.lower())
        if match is None:
            raise ValueError(f"memory {given!r}: give bytes, or as in 500M or 4G")
        given = int(float(match[1]) * 1024 ** _UNITS[match[2]])
    if given < 1:
        raise ValueError(f"memory must be some bytes; got {given}")
    return int(given)
