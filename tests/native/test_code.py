"""Compiled code is found again by the next process, unless anything that it was made from has changed."""

import ctypes
import importlib.metadata
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.learn import rows
from steelyard.native import code, library, linking, processor
from steelyard.native.declare import PLAIN, Kernel, KernelEntry, kernel
from tests.native.processes import (
    SOURCES,
    VALUE,
    copy_of_the_package,
    inherited,
    packages_without,
    run,
    start,
    write,
)

pytestmark = pytest.mark.skipif(PLAIN, reason="nothing is compiled")

# What entries compile to: written by hand, so that tests compile in no time.
LLVM = "define i32 @{symbol}(i64 %block) {{ ret i32 {number} }}"


class Entry:
    """Code that returns a number."""

    title, ships = "a number", False

    def __init__(self, number: int = 42, made_from: str | None = "here", name: str = "number") -> None:
        self.number, self.made_from, self.name = number, made_from, name
        self.compiled = 0

    def llvm(self, symbol: str) -> str:
        self.compiled += 1
        return LLVM.format(symbol=symbol, number=self.number)

    def run(self) -> int:
        return code.runnable(self)(0)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty cache, for this process and those that it starts."""
    monkeypatch.setenv("STEELYARD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    forget()
    yield tmp_path / "cache"
    monkeypatch.undo()
    forget()


def forget() -> None:
    """What this process remembers of its environment."""
    for each in (code.folder, code._places, code._compilers, code.sources_of, linking.find_linker):
        each.cache_clear()


def unexpected(*_: Any) -> Any:
    pytest.fail("it should have been found")


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_compiled_once_then_found(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = Entry()
    assert [entry.run() for _ in range(3)] == [42] * 3
    assert entry.compiled == 1
    assert capsys.readouterr().err == "steelyard: compiling a number, once\n"
    (file,) = files(cache)
    assert file.suffix == linking.LINKED


def test_it_is_said_to_nobody_where_there_is_no_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert Entry().run() == 42


def test_whatever_it_is_made_from_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def name(level: str = "x86-64", **changed: Any) -> str:
        return code.digest(Entry(**changed), level)

    names = [name(), name(level="x86-64-v3"), name(made_from="there"), name(name="other")]
    for place, value in (
        ("sys.version", "4"),
        ("sys.platform", "moon"),
        ("platform.machine", lambda: "abacus"),
        ("steelyard.native.code._compilers", lambda: ("1", "2")),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(place, value)
            names.append(name())
    assert len(set(names)) == len(names)
    assert name() == names[0]
    assert name(made_from=None) != name(made_from=None)


def test_what_may_change_unnoticed_is_compiled_by_each_process(cache: Path) -> None:
    entry = Entry(made_from=None)
    assert (entry.run(), entry.run()) == (42, 42)
    assert entry.compiled == 2
    assert files(cache) == []


def test_what_ships_comes_from_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "address", {"number": 7}.get)
    entry = Entry()
    assert code.address(entry) != 7
    entry.ships = True
    assert code.address(entry) == 7
    entry.name = "unknown"
    assert entry.run() == 42


DAMAGES: list[Callable[[bytes], bytes]] = [
    lambda code: b"",
    lambda code: code[:-1],
    lambda code: code[: len(code) // 2],
    lambda code: b"x" * len(code),
    lambda code: code[:4000].replace(code[64:80], bytes(16)) + code[4000:],
]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("linker", [True, False])
def test_a_damaged_file_is_made_anew(
    cache: Path, monkeypatch: pytest.MonkeyPatch, linker: bool, damage: Callable[[bytes], bytes]
) -> None:
    """To load it would be too late: the system ends a process that runs into a missing end."""
    if not linker:
        monkeypatch.setattr(linking, "find_linker", lambda: None)
    first, second, third = Entry(), Entry(), Entry()
    assert first.run() == 42
    (file,) = files(cache)
    whole = file.read_bytes()
    file.unlink()  # this process has mapped it
    file.write_bytes(damage(whole))
    assert second.run() == 42
    assert second.compiled == 1
    assert third.run() == 42
    assert third.compiled == 0


def test_without_a_linker_the_object_is_loaded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    entry = Entry()
    assert (entry.run(), entry.run(), entry.compiled) == (42, 42, 1)
    assert [file.suffix for file in files(cache)] == [linking.OBJECT]


@pytest.mark.parametrize("linker", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n", "no program"])
def test_a_linker_that_fails_is_as_good_as_none(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linker: str
) -> None:
    cc = tmp_path / "bin/cc"
    cc.parent.mkdir()
    cc.write_text(linker)
    cc.chmod(0o755)
    monkeypatch.setenv("PATH", str(cc.parent))
    assert Entry().run() == 42
    assert [file.suffix for file in files(cache)] == [linking.OBJECT]


def test_a_full_disk_is_no_failure(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    entry = Entry()
    assert entry.run() == 42
    assert files(cache) == []


def test_nor_is_a_disk_from_which_nothing_may_be_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: str) -> Any:
        raise OSError(f"{file}: failed to map segment from shared object")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    assert [Entry().run() for _ in range(2)] == [42, 42]


def test_where_the_cache_cannot_be_written_the_users_own_is_used(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file")  # whoever runs this may write everywhere
    assert Entry().run() == 42
    assert len(files(tmp_path / "home/steelyard")) == 1
    assert Entry().run() == 42
    monkeypatch.setattr(os, "access", lambda *_: False)
    code.folder.cache_clear()
    assert code.folder() is None
    found = Entry()
    assert (found.run(), found.compiled) == (42, 0)  # it can be read
    assert Entry(made_from="elsewhere").run() == 42


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="whoever is root may write everywhere")
def test_a_folder_without_the_right_to_write(cache: Path, tmp_path: Path) -> None:
    cache.mkdir()
    cache.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert Entry().run() == 42
    assert len(files(tmp_path / "home/steelyard")) == 1


def test_nowhere_to_write_and_no_home(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    cache.write_text("a file")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert Entry().run() == 42
    assert code._places() == [cache]


def test_where_code_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def places() -> list[Path]:
        code._places.cache_clear()
        return code._places()

    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert places() == [tmp_path / "cache", tmp_path / "home/steelyard"]
    monkeypatch.delenv("STEELYARD_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert places() == [Path(code.__file__).parent / "__pycache__", tmp_path / ".cache/steelyard"]


def test_missing_compilers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("numba", "llvmlite"):
        with monkeypatch.context() as changed:
            changed.setitem(sys.modules, package, None)
            with pytest.raises(
                ImportError, match=r"^a number has to be compiled, .*'steelyard\[own-loss\]'$"
            ):
                Entry(made_from=package).run()


def test_without_them_any_code_that_was_kept_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> str:
        raise importlib.metadata.PackageNotFoundError(package)

    assert Entry().run() == 42
    code._compilers.cache_clear()
    monkeypatch.setattr(importlib.metadata, "version", absent)
    entry = Entry()
    assert (entry.run(), entry.compiled) == (42, 0)


@kernel
def two(x: Any) -> Any:
    return 2.0 * x


def test_the_sources_of_a_kernel_are_all_that_it_imports() -> None:
    found = {file.name for file in code._imported_by("steelyard.learn.lanes", set())}
    assert {"lanes.py", "lane_ops.py", "vectors.py", "schedules.py", "memory.py"} <= found
    assert "vector_registers.py" in found  # which is imported late
    assert not {"jsonl.py", "code.py", "compiler.py"} & found
    assert set(code._COMPILES) <= {file.name for file in Path(code.__file__).parent.iterdir()}
    assert code.sources_of("steelyard.learn.lanes") != code.sources_of("steelyard.text.lines")


def test_a_kernel_of_the_package_is_made_from_its_module() -> None:
    own = next(thing for thing in vars(rows).values() if isinstance(thing, Kernel))
    assert KernelEntry(own, "f8").made_from == code.sources_of("steelyard.learn.rows")


def test_an_edit_while_a_process_runs_is_not_taken_for_what_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert code.sources_of("steelyard.learn.rows") is not None
    assert KernelEntry(two, "f8").made_from is not None
    code.sources_of.cache_clear()
    monkeypatch.setattr(
        code, "_BEGAN", Path(code.__file__).parents[1].joinpath("learn/rows.py").stat().st_mtime - 1.0
    )
    assert code.sources_of("steelyard.learn.rows") is None
    assert KernelEntry(two, "f8").made_from is None
    assert code.sources_around(two.function) is None
    monkeypatch.setattr(code, "_BEGAN", time.time())
    assert KernelEntry(two, "f8").made_from is None  # its parts were remembered
    code.sources_of.cache_clear()
    assert KernelEntry(two, "f8").made_from is not None


def test_a_kernel_without_a_file_is_not_kept() -> None:
    scope: dict[str, Any] = {"kernel": kernel, "__name__": "typed"}
    exec("@kernel\ndef half(x):\n    return 0.5 * x", scope)
    assert KernelEntry(scope["half"], "f8").made_from is None


KERNEL = """
import numpy as np
from steelyard.text import words
from steelyard.native.declare import kernel
from steelyard.learn.probe import probe
print(probe(np.ones(3)))
"""
PROBE = """
from steelyard.native.declare import kernel
from steelyard.learn.probed import FACTOR, grown

@kernel
def probe(array):
    return grown(array[0]) * FACTOR
"""
PROBED = """
from steelyard.native.declare import part

FACTOR = 2.0

@part
def grown(x):
    return x + 1.0
"""


def test_an_edited_kernel_is_never_stale(tmp_path: Path) -> None:
    """Nor is one whose import was edited; one of which nothing was edited is found."""
    package = copy_of_the_package(tmp_path)
    probe, probed = package / "learn/probe.py", package / "learn/probed.py"
    write(probe, PROBE)
    write(probed, PROBED)

    def result() -> tuple[str, list[str]]:
        return run(KERNEL, tmp_path, STEELYARD_CACHE_DIR=str(tmp_path / "cache"))

    assert result() == ("4.0", ["learn.probe.probe"])
    assert result() == ("4.0", [])
    write(package / "learn/rows.py", "# not what it imports\n")
    assert result() == ("4.0", [])
    for file, old, new, expected in (
        (probe, "* FACTOR", "- FACTOR", "0.0"),
        (probed, "x + 1.0", "x + 2.0", "1.0"),
        (probed, "FACTOR = 2.0", "FACTOR = 1.0", "2.0"),
        (package / "native/compiler.py", "def machine_code", "# an edit\ndef machine_code", "2.0"),
        (package / "native/argument_blocks.py", "def _pointer", "# an edit\ndef _pointer", "2.0"),
    ):
        write(file, file.read_text().replace(old, new))
        assert result() == (expected, ["learn.probe.probe"])
        assert result() == (expected, [])


LOSS = """
from steelyard.losses import Loss
from helpers import helper, SHIFT

class Own(Loss):
    factor = 2

    def grown(self, x):
        return self.factor * x

    def value(self, p, y):
        return self.grown(p - y) + helper(p) + SHIFT

    def derivative(self, p, y):
        return 1.0
"""
HELPERS = """
SHIFT = 0.5

def helper(x):
    return 10.0 * x
"""


@pytest.mark.parametrize("place", ["file", "main"])
def test_an_edited_loss_is_never_stale(tmp_path: Path, place: str) -> None:
    """In a file of its own, or in the script that is run."""

    def result(loss: str, helpers: str) -> tuple[str, list[str]]:
        write(tmp_path / "own.py", loss)
        write(tmp_path / "helpers.py", helpers)
        script = VALUE + ("from own import Own\n" if place == "file" else loss) + "\nprint(value(Own()))"
        return run(script, SOURCES, tmp_path, STEELYARD_CACHE_DIR=str(tmp_path / "cache"))

    assert result(LOSS, HELPERS) == ("34.5", ["Own.value"])
    edits = [
        (LOSS.replace("+ SHIFT", "- SHIFT"), HELPERS, "33.5"),
        (LOSS.replace("factor * x", "factor * x * x"), HELPERS, "38.5"),
        (LOSS.replace("factor = 2", "factor = 3"), HELPERS, "36.5"),
        (LOSS, HELPERS.replace("10.0 * x", "20.0 * x"), "64.5"),
        (LOSS, HELPERS.replace("SHIFT = 0.5", "SHIFT = 0.25"), "34.25"),
    ]
    for loss, helpers, expected in edits if place == "file" else edits[::3]:
        assert result(loss, helpers) == (expected, ["Own.value"])
    assert result(LOSS, HELPERS) == ("34.5", [])
    assert result("# a word\n" + LOSS, HELPERS + "\nUNUSED = 1") == ("34.5", [])


def test_several_processes_that_compile_the_same_at_once(tmp_path: Path) -> None:
    """Each gets the right code, and one whole file is left."""
    script = VALUE + "from steelyard import losses\nprint(value(losses.by_name('squared')))"
    running = [start(script, SOURCES, STEELYARD_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2)]
    assert [process.communicate()[0] for process in running] == ["2.0\n"] * 2
    assert len(files(tmp_path / "cache")) == 1
    assert run(script, SOURCES, STEELYARD_CACHE_DIR=str(tmp_path / "cache")) == ("2.0", [])


WITHOUT = """
import importlib.util, sys
assert importlib.util.find_spec("numba") is importlib.util.find_spec("llvmlite") is None
"""


def test_without_numba_what_exists_works_and_what_does_not_says_what_to_install(tmp_path: Path) -> None:
    script = VALUE + "from steelyard import losses\nprint(value(losses.by_name('squared'), 'derivative'))"
    environment = {"STEELYARD_CACHE_DIR": str(tmp_path / "cache")}
    assert run(script, SOURCES, **environment) == ("2.0", ["Squared.derivative"])
    search = os.pathsep.join(
        map(str, (packages_without(tmp_path / "packages", "numba", "llvmlite"), SOURCES))
    )
    for name, expected in (("derivative", "2.0\n"), ("value", "")):
        done = subprocess.run(
            [sys.executable, "-S", "-c", WITHOUT + script.replace("derivative", name)],
            env=inherited() | environment | {"PYTHONPATH": search},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout == expected, done.stderr
    what, how = "Squared.value has to be compiled, which needs Numba", "pip install 'steelyard[own-loss]'"
    assert done.stderr.splitlines()[-1] == f"ImportError: {what}: {how}"


def test_an_object_that_nothing_can_load_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a cache was filled without a linker, and llvmlite went."""
    with monkeypatch.context() as changed:
        changed.setattr(linking, "find_linker", lambda: None)
        assert Entry().run() == 42
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    with pytest.raises(ImportError, match="pip install"):
        Entry().run()


@pytest.mark.parametrize("level", processor.levels())
def test_each_level_has_code_of_its_own(monkeypatch: pytest.MonkeyPatch, cache: Path, level: str) -> None:
    assert Entry().run() == 42
    monkeypatch.setattr(processor, "level", lambda: level)
    assert Entry().run() == 42
    assert len(files(cache)) == (1 if level == processor.levels()[0] else 2)


def test_a_kernel_of_a_test_is_found_again(cache: Path) -> None:
    entry = KernelEntry(two, "f8")
    assert code.address(entry) == code.address(entry) != 0
    assert len(files(cache)) == 1
    assert two(np.float64(3.0)) == 6.0
