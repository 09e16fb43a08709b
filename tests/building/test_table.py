"""The table holds all that a process without a compiler may need."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import steelyard
from steelyard import learn, losses, text, updates
from steelyard.building import table
from steelyard.learn import batched_loss
from steelyard.native import argument_blocks, calls
from steelyard.native.declare import CHECKED, PLAIN, Kernel
from steelyard.native.kinds import keys_of
from steelyard.native.methods import pointer, step_pointer

pytestmark = pytest.mark.skipif(PLAIN or CHECKED, reason="libraries are neither plain nor checked")
SOURCES = Path(steelyard.__file__).parent


def all_kernels() -> dict[str, Kernel]:
    found: dict[str, Kernel] = {}
    for room in (learn, text):
        for module in pkgutil.iter_modules(room.__path__):
            made = vars(importlib.import_module(f"{room.__name__}.{module.name}"))
            found |= {thing.name: thing for thing in made.values() if isinstance(thing, Kernel)}
    return found


KERNELS = all_kernels() if not PLAIN else {}
WITH_TYPES = [kernel for kernel in KERNELS.values() if kernel.declared]


def kinds(key: str) -> list[str]:
    return [kind for kind in key.split() if kind[-1] not in "()"]


@pytest.mark.parametrize("kernel", WITH_TYPES, ids=lambda kernel: kernel.name)
def test_every_key_of_a_kernel_can_be_read(kernel: Kernel) -> None:
    """As many arguments as it takes, each of a kind that a call may have, brackets that close."""
    found = keys_of(kernel.function)
    assert found
    assert len(set(found)) == len(found)
    for key in found:
        for kind in kinds(key):
            assert re.fullmatch(r"F\w+|[a-z]\d+(\[,{0,3}\]|\[:(,:){0,3}\])?", kind), kind
            assert kind[0] == "F" or kind.partition("[")[0] in calls.CODES.values(), kind
            assert calls.words_of(kind)
        given = argument_blocks.types_of(iter(key.split()))
        assert len(given) == kernel.function.__code__.co_argcount


def called_by_python() -> set[str]:
    """The kernels that code outside of kernels names: `rows.first(…)`, or `first(…)` after an import."""
    named = set()
    for file in SOURCES.rglob("*.py"):
        room, module = file.parent.name, file.stem
        if room in ("native", "building", "__pycache__"):
            continue
        for found in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(found, ast.FunctionDef) and room in ("learn", "text") and found.decorator_list:
                for inner in ast.walk(found):  # what a kernel calls is compiled with it
                    inner.seen = True  # type: ignore[attr-defined]
            if hasattr(found, "seen"):
                continue
            if isinstance(found, ast.Attribute) and isinstance(found.value, ast.Name):
                named |= {f"{place}.{found.value.id}.{found.attr}" for place in ("learn", "text")}
            elif isinstance(found, ast.ImportFrom) and room not in ("learn", "text"):
                named |= {
                    f"{(found.module or '').removeprefix('steelyard.')}.{each.name}" for each in found.names
                }
            elif isinstance(found, ast.Name) and room in ("learn", "text"):
                named.add(f"{room}.{module}.{found.id}")
    return named & set(KERNELS)


def test_every_kernel_that_python_calls_has_its_types() -> None:
    lacking = sorted(name for name in called_by_python() if not KERNELS[name].declared)
    assert called_by_python()
    assert lacking == []


def test_every_kernel_with_types_is_there() -> None:
    names = {entry.name for entry in table.kernels()}
    assert names == {f"{kernel.name} {key}" for kernel in WITH_TYPES for key in keys_of(kernel.function)}
    assert names <= set(table.entries())


def test_names_are_unique() -> None:
    entries: list[Any] = [*table.kernels(), *table.methods()]
    assert len(table.entries()) == len({entry.name for entry in entries}) == len(entries)
    assert all(entry.name == name for name, entry in table.entries().items())


def test_everything_ships_and_is_kept() -> None:
    for entry in table.entries().values():
        assert entry.ships
        assert entry.made_from


@pytest.mark.parametrize("name", losses.names())
def test_every_loss_with_every_update_is_there(name: str) -> None:
    loss = losses.by_name(name)
    wanted: list[Any] = [pointer(loss, "value"), pointer(loss, "derivative")]
    for update in updates.names_for(loss):
        step = updates.by_name(update).step
        wanted += [
            step_pointer(loss, step),
            *(batched_loss.steps(loss, step, dtype) for dtype in batched_loss.DIALECTS),
        ]
    assert {each.name for each in wanted} <= set(table.entries())


def test_methods_with_other_parameters_are_the_same_code() -> None:
    for tau in (0.1, 0.9):
        assert pointer(losses.by_name("quantile", tau=tau), "value").name in table.entries()
