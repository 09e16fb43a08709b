"""A small library: built, found and run, from objects that are compiled once."""

import ctypes
import multiprocessing
import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard import losses
from steelyard.building import __main__ as command
from steelyard.building import objects, table
from steelyard.native import code, library, linking, processor
from steelyard.native.declare import CHECKED, PLAIN
from steelyard.native.methods import Method, parameter_array, pointer
from tests.native.processes import SOURCES, VALUE, run

pytestmark = pytest.mark.skipif(PLAIN or CHECKED, reason="libraries are neither plain nor checked")
LEVELS = processor.all_levels()[-2:]


class _Here:
    """A pool without processes, whose work is traced: it gives results in another order."""

    def imap_unordered(self, make: Callable[[str], Any], names: list[str]) -> Iterator[Any]:
        return iter([make(name) for name in reversed(names)])


def _one(method: Method, symbol: str) -> str:
    return f"define double @{symbol}() {{ ret double 1.0 }}"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = SimpleNamespace(Pool=lambda count: nullcontext(_Here()))
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: pool)


@pytest.fixture(autouse=True)
def _small_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    loss = losses.by_name("quantile")
    entries = [
        pointer(loss, "value"),
        pointer(loss, "derivative"),
        pointer(losses.by_name("squared"), "value"),
    ]
    monkeypatch.setattr(table, "entries", lambda: {entry.name: entry for entry in entries})
    monkeypatch.setenv("STEELYARD_CACHE_DIR", str(tmp_path / "cache"))
    forget()
    yield
    monkeypatch.undo()
    forget()


def forget() -> None:
    for each in (code.folder, code._places, library._loaded, library.file):
        each.cache_clear()


def progress(done: int, total: int) -> None:
    assert 1 <= done <= total == 3


def value(loss: Any, address: int) -> float:
    call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, *[ctypes.c_double] * 2)(address)
    return float(call(parameter_array(loss).ctypes.data, 3.0, 1.0))


@pytest.mark.usefixtures("here")
def test_a_library_for_each_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = objects.build_library(tmp_path / "library", LEVELS, tmp_path / "objects", progress)
    assert files == [tmp_path / "library" / library.file_name(level) for level in LEVELS]
    assert sorted(tmp_path.glob("library/*")) == sorted(files)
    assert len(list(tmp_path.glob("objects/*"))) == 3 * len(LEVELS)
    monkeypatch.setattr(library, "FOLDER", tmp_path / "library")
    monkeypatch.setattr(processor, "levels", lambda: LEVELS)
    monkeypatch.setattr(code, "_compile", None)  # nothing is compiled
    quantile = losses.by_name("quantile", tau=0.75)
    for tau in (0.75, 0.25):
        loss = losses.by_name("quantile", tau=tau)
        assert value(loss, code.address(pointer(loss, "value"))) == loss.value(3.0, 1.0)
    assert library.address(pointer(quantile, "derivative").name)
    assert library.address(pointer(losses.by_name("logistic"), "value").name) is None


@pytest.mark.usefixtures("here")
def test_building_again_compiles_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def llvm(method: Method, symbol: str) -> str:
        compiled.append(method.title)
        return _one(method, symbol)

    monkeypatch.setattr(Method, "llvm", llvm)
    for name in ("first", "second"):
        objects.build_library(tmp_path / name, LEVELS, tmp_path / "objects", progress)
    assert sorted(compiled) == ["Quantile.derivative", "Quantile.value", "Squared.value"]
    next(tmp_path.glob("objects/*")).unlink()
    objects.build_library(tmp_path / "third", LEVELS, tmp_path / "objects", progress)
    assert len(compiled) == 4
    first, second, third = (
        [file.read_bytes() for file in sorted((tmp_path / name).iterdir())]
        for name in ("first", "second", "third")
    )
    assert first == second == third


def test_the_order_in_which_processes_finish_does_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of their own build the same bits, from the table that they import."""
    real = objects.build_library(tmp_path / "real", LEVELS[-1:], tmp_path / "objects", progress)
    pool = SimpleNamespace(Pool=lambda count: nullcontext(_Here()))
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: pool)
    here = objects.build_library(tmp_path / "here", LEVELS[-1:], tmp_path / "others", progress)
    assert [file.read_bytes() for file in real] == [file.read_bytes() for file in here]


@pytest.mark.usefixtures("here")
def test_without_a_linker_there_is_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "find_linker", lambda: None)
    monkeypatch.setattr(Method, "llvm", _one)
    with pytest.raises(FileNotFoundError, match="install gcc, clang or the package ziglang"):
        objects.build_library(tmp_path / "library", LEVELS[:1], tmp_path / "objects", progress)


@pytest.mark.usefixtures("here")
def test_the_cache_is_filled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    objects.fill_cache(progress)
    assert capsys.readouterr().err == ""  # nobody wants a line for each
    assert len(list(tmp_path.glob("cache/*"))) == 3
    command.main()
    said = capsys.readouterr().err
    assert said.startswith("\rsteelyard: compiled 3 of 3 functions in ")
    script = VALUE + "from steelyard import losses\nprint(value(losses.by_name('squared')))"
    assert run(script, SOURCES, STEELYARD_CACHE_DIR=str(tmp_path / "cache")) == ("2.0", [])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kept", [True, False])
def test_the_command_builds_the_library_of_all_levels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    monkeypatch.setattr(Method, "llvm", _one)
    command.main(*map(str, [tmp_path / "library", tmp_path / "objects"][: 1 + kept]))
    found = {file.name for file in (tmp_path / "library").iterdir()}
    assert found == {library.file_name(level) for level in processor.all_levels()}
    assert (tmp_path / "objects").exists() == kept
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.usefixtures("here")
def test_it_is_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Method, "llvm", _one)
    monkeypatch.setattr(sys, "argv", ["building", str(tmp_path / "library")])
    monkeypatch.delitem(sys.modules, "steelyard.building.__main__")
    runpy.run_module("steelyard.building", run_name="__main__")
    assert len(list((tmp_path / "library").iterdir())) == len(processor.all_levels())


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_one_line(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    for done in (1, 2):
        command._show_progress(done, 2)
    lines = ["\rsteelyard: compiled 1 of 2 functions"] * terminal + ["\rsteelyard: compiled 2 of 2 functions"]
    assert capsys.readouterr().err == "".join(lines)


@pytest.mark.usefixtures("here")
def test_what_takes_long_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["b", "learn.adaptive_lanes.learn f8", "a"]
    monkeypatch.setattr(table, "entries", lambda: dict.fromkeys(names))
    made = list(objects._all(str, progress))
    assert made[::-1] == ["learn.adaptive_lanes.learn f8", "b", "a"]  # the pool turns them round
