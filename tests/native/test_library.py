"""The library that a wheel brings: found by the level of the processor, asked by name."""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.native import compiler, library, linking, processor

LEVELS = processor.levels()


def forget() -> None:
    library._loaded.cache_clear()
    library.file.cache_clear()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    forget()
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    yield tmp_path
    forget()


def write(folder: Path, level: str, *names: str) -> Path:
    objects = []
    for name in names:
        symbol = library.symbol_of(name)
        code = compiler.machine_code(f"define i32 @{symbol}() {{ ret i32 1 }}", symbol, level)
        objects.append(folder / f"{symbol}.o")
        objects[-1].write_bytes(code)
    return linking.link(objects, folder / library.file_name(level))


def test_a_checkout_has_none() -> None:
    assert library.file() is None
    assert library.address("learn.rows.first f8[]") is None


def test_what_it_has_is_found_and_what_it_lacks_is_not(folder: Path) -> None:
    write(folder, LEVELS[0], "one", "two f8[] (F2)")
    assert library.address("one") not in (None, 0)
    assert library.address("two f8[] (F2)") not in (None, 0, library.address("one"))
    assert library.address("three") is None


@pytest.mark.parametrize("levels", [LEVELS, LEVELS[:1], LEVELS[-1:], ()], ids=str)
def test_the_highest_level_that_is_there(folder: Path, levels: tuple[str, ...]) -> None:
    for level in levels:
        (folder / library.file_name(level)).touch()
    assert library.file() == (folder / library.file_name(levels[0]) if levels else None)


def test_a_lower_level_on_request(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for level in LEVELS:
        (folder / library.file_name(level)).touch()
    monkeypatch.setattr(processor, "levels", lambda: LEVELS[-1:])
    assert library.file() == folder / library.file_name(LEVELS[-1])


def test_symbols_are_names_for_linkers() -> None:
    symbols = [library.symbol_of(name) for name in ("a", "b", "learn.lanes f8[:,:] ( F2 )")]
    assert len(set(symbols)) == 3
    assert all(symbol.isidentifier() and symbol.startswith("steelyard_") for symbol in symbols)


def test_files_say_what_they_are_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "AMD64")
    monkeypatch.setattr("sys.platform", "moon")
    assert library.file_name("x86-64-v3") == f"moon-amd64-x86-64-v3{library.SUFFIX}"


def test_it_is_opened_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    write(folder, LEVELS[0], "one")
    real = ctypes.CDLL

    def load(file: str) -> Any:
        opened.append(file)
        return real(file)

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert library.address("one") == library.address("one")
    assert opened == [str(folder / library.file_name(LEVELS[0]))]
