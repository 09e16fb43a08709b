"""Objects become code that runs, with a linker or without one."""

import ctypes
import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.native import compiler, linking, processor

SYMBOL = "answer"


@pytest.fixture(scope="module")
def answer() -> bytes:
    """An object: it returns 42 plus the exponential of 0, so that it calls the C library."""
    text = f"""
declare double @exp(double)
define i32 @{SYMBOL}(i64 %block) {{
  %at = inttoptr i64 %block to ptr
  %x = load double, ptr %at
  %e = call double @exp(double %x)
  %n = fptosi double %e to i32
  %r = add i32 %n, 41
  ret i32 %r
}}
"""
    return compiler.machine_code(text, SYMBOL, processor.level())


@pytest.fixture(autouse=True)
def _forget() -> Any:
    linking.find_linker.cache_clear()
    yield
    linking.find_linker.cache_clear()


def run(address: int | None) -> int:
    assert address is not None
    block = (ctypes.c_double * 1)(0.0)
    return int(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)(address)(ctypes.addressof(block)))


def test_stored_and_found(tmp_path: Path, answer: bytes) -> None:
    assert linking.find(tmp_path, "name", SYMBOL) is None
    assert run(linking.load(linking.store(answer, tmp_path, "name"), SYMBOL)) == 42
    assert run(linking.find(tmp_path, "name", SYMBOL)) == 42
    assert linking.find(tmp_path, "nam", SYMBOL) is linking.find(tmp_path / "missing", "name", SYMBOL) is None
    assert run(linking.find(tmp_path, "n*e", SYMBOL)) == 42  # a name may leave something open


def test_an_object_is_loaded_without_a_linker(
    tmp_path: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "find_linker", lambda: None)
    file = linking.store(answer, tmp_path, "name")
    assert file.suffix == linking.OBJECT
    assert run(linking.load(file, SYMBOL)) == run(linking.find(tmp_path, "name", SYMBOL)) == 42


def test_two_objects_may_export_the_same_symbol(answer: bytes) -> None:
    other = compiler.machine_code(
        f"define i32 @{SYMBOL}(i64 %block) {{ ret i32 7 }}", SYMBOL, processor.level()
    )
    addresses = [linking.load_object(code, SYMBOL) for code in (answer, other)]
    assert [run(address) for address in addresses] == [42, 7]


def test_nothing_else_is_left_in_the_folder(tmp_path: Path, answer: bytes) -> None:
    assert [linking.store(answer, tmp_path, "name")] == list(tmp_path.iterdir())


def test_a_file_that_was_cut_off_or_changed_is_not_loaded(tmp_path: Path, answer: bytes) -> None:
    file = linking.store(answer, tmp_path, "name")
    file.write_bytes(file.read_bytes()[:-1])
    assert linking.find(tmp_path, "name", SYMBOL) is None
    assert linking.store(answer, tmp_path, "name").stat().st_size > 0
    assert run(linking.find(tmp_path, "name", SYMBOL)) == 42


def test_a_folder_in_place_of_a_file_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / f"name.0{linking.LINKED}").mkdir()
    assert linking.find(tmp_path, "name", SYMBOL) is None


def test_the_oldest_files_go(tmp_path: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "_MOST_FILES", 4)
    monkeypatch.setattr(linking, "find_linker", lambda: None)
    (tmp_path / "module.pyc").touch()
    for age, name in enumerate("abcde"):
        os.utime(linking.store(answer, tmp_path, digest_like(name)), (age, age))
    assert sorted(file.name[0] for file in tmp_path.iterdir()) == ["c", "d", "e", "m"]
    linking.store(answer, tmp_path, digest_like("f"))
    monkeypatch.setattr(Path, "unlink", _refuse)
    linking._drop_oldest(tmp_path)
    assert sorted(file.name[0] for file in tmp_path.iterdir()) == ["c", "d", "e", "f", "m"]


def digest_like(letter: str) -> str:
    """As `code.digest` names files."""
    return f"{letter * 32}-{letter * 32}"


def test_files_of_others_stay(tmp_path: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may name a folder as the cache that has objects of their own."""
    monkeypatch.setattr(linking, "_MOST_FILES", 4)
    monkeypatch.setattr(linking, "find_linker", lambda: None)
    theirs = [tmp_path / f"mine{number}{suffix}" for number in range(6) for suffix in (".o", ".so")]
    for file in theirs:
        file.touch()
    for name in "abcdef":
        linking.store(answer, tmp_path, digest_like(name))
    assert all(file.exists() for file in theirs)


def _refuse(file: Path, missing_ok: bool = False) -> None:
    """Another process uses the file, or was there first."""
    raise PermissionError(13, "Permission denied", str(file))


def test_any_c_compiler_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"gcc": "/bin/gcc", "clang": "/bin/clang"}
    monkeypatch.setattr(shutil, "which", found.get)
    assert linking.find_linker() == ("/bin/gcc",)
    linking.find_linker.cache_clear()
    found["cc"] = "/bin/cc"
    assert linking.find_linker() == ("/bin/cc",)


def test_one_that_is_a_python_package_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "ziglang" or None)
    assert linking.find_linker() == (sys.executable, "-m", "ziglang", "cc")
    linking.find_linker.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert linking.find_linker() is None
    with pytest.raises(FileNotFoundError, match="install gcc, clang or the package ziglang"):
        linking.link([], tmp_path / "library")


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")
def test_ziglang_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: bytes) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    file = linking.store(answer, tmp_path, "name")
    assert file.suffix == linking.LINKED
    assert run(linking.load(file, SYMBOL)) == 42


def test_many_objects_in_folders_with_any_name(tmp_path: Path) -> None:
    """More than a command may name on some systems."""
    folder = tmp_path / "two words, \u00e9"
    folder.mkdir()
    objects = [folder / f"{'long' * 20}{number}.o" for number in range(500)]
    for number, file in enumerate(objects):
        symbol = f"f{number}"
        text = f"define i32 @{symbol}(i64 %block) {{ ret i32 {number} }}"
        file.write_bytes(compiler.machine_code(text, symbol, processor.level()))
    library = ctypes.CDLL(str(linking.link(objects, folder / "all.so")))
    assert run(linking.address_of(library, "f499")) == 499


def test_a_linker_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "broken.o").write_text("no object")
    with pytest.raises(linking.LinkerError, match=r"could not link .*library.so: (?s:.*)broken\.o"):
        linking.link([tmp_path / "broken.o"], tmp_path / "library.so")
    assert [file.name for file in tmp_path.iterdir()] == ["broken.o"]
