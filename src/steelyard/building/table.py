"""The table of the library: kernels for each combination of types, and the methods of the package's losses."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from steelyard import learn, losses, schedules, text, updates
from steelyard.learn import batched_loss
from steelyard.native import kinds
from steelyard.native.code import Entry
from steelyard.native.declare import Kernel, KernelEntry
from steelyard.native.methods import Method, pointer, step_pointer


def kernels() -> Iterator[KernelEntry]:
    """Yield each kernel with each of its keys."""
    for room in (learn, text):
        for found in pkgutil.iter_modules(room.__path__):
            module = importlib.import_module(f"{room.__name__}.{found.name}")
            for thing in vars(module).values():
                if (
                    isinstance(thing, Kernel)
                    and thing.declared
                    and thing.function.__module__ == module.__name__
                ):
                    yield from (KernelEntry(thing, key) for key in kinds.keys_of(thing.function))


def methods() -> Iterator[Method]:
    """Yield the methods that kernels are called with: for each loss and update, for one prediction and for lanes."""
    for loss in (losses.by_name(name) for name in losses.names()):
        possible = [
            each for each in map(updates.by_name, updates.names()) if loss.smooth or not each.needs_curvature
        ]
        yield from (pointer(loss, name) for name in ("value", "derivative"))
        if type(loss).probability is not losses.Loss.probability:
            yield pointer(loss, "probability")
        for each in possible:
            yield from (step_pointer(loss, each.step), step_pointer(loss, each.time))
        for dtype in batched_loss.DIALECTS:
            for form in (batched_loss.values, batched_loss.slopes, batched_loss.values_after):
                yield form(loss, dtype)
            for each in possible:
                yield batched_loss.steps(loss, each.step, dtype)
                yield batched_loss.times(loss, each.time, dtype)
    decay = schedules.PowerDecay()
    for name in ("integral", "frozen", "importance", "frozen_importance"):
        yield pointer(decay, name)
    for schedule in (schedules.integral, schedules.frozen):
        yield batched_loss.pushes(schedule)
        yield batched_loss.pushes_by_lane(schedule)


@cache
def entries() -> dict[str, Entry]:
    """Return all kernels and methods, by name."""
    everything: list[Entry] = [*kernels(), *methods()]
    return {entry.name: entry for entry in everything}
