"""Wheels bring the library for all levels and the tag of the platform; nothing else is built."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import hatch_build
from hatch_build import LibraryHook, platform_tag


def hook(root: Path, target: str = "wheel") -> Any:
    return LibraryHook(str(root), {}, None, None, str(root), target)  # type: ignore[arg-type]


def data() -> dict[str, Any]:
    return {"force_include": {}, "pure_python": True}


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """The commands that build, which leave two libraries."""
    commands: list[tuple[list[str], dict[str, str]]] = []

    def run(command: list[str], check: bool, env: dict[str, str]) -> None:
        assert check
        commands.append((command, env))
        folder = Path(command[4])
        folder.mkdir(parents=True)
        for name in ("b.so", "a.so"):
            (folder / name).write_bytes(b"GLIBC_2.2.5\0GLIBC_2.27\0")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "linux-x86_64")
    return commands


def test_a_wheel_brings_the_libraries(tmp_path: Path, built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / "build/library/left_by_an_earlier_build.so"
    left.parent.mkdir(parents=True)
    left.touch()
    for switch in ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "NUMBA_CPU_NAME", "NUMBA_OPT"):
        monkeypatch.setenv(switch, "1")
    monkeypatch.setenv("PATH", "somewhere")
    monkeypatch.setenv("PYTHONPATH", "where pip puts what a build needs")
    found = data()
    hook(tmp_path).initialize("standard", found)
    folder = tmp_path / "build/library"
    assert found == {
        "force_include": {
            str(folder / name): f"steelyard/native/libraries/{name}" for name in ("a.so", "b.so")
        },
        "pure_python": False,
        "tag": "py3-none-manylinux_2_27_x86_64",
    }
    ((command, environment),) = built
    assert command[:2] == [sys.executable, "-c"]
    assert command[3:] == [str(tmp_path / "src"), str(folder), str(tmp_path / "build/objects")]
    assert environment["PYTHONPATH"] == "where pip puts what a build needs"
    assert environment["PYTHONHASHSEED"] == "0"
    assert environment["PATH"] == "somewhere"
    assert not [name for name in environment if name.startswith("NUMBA_")]


@pytest.mark.parametrize(("target", "version"), [("wheel", "editable"), ("sdist", "standard")])
def test_nothing_is_built_for_anything_else(tmp_path: Path, built: Any, target: str, version: str) -> None:
    found = data()
    hook(tmp_path, target).initialize(version, found)
    assert found == data()
    assert built == []


def test_a_build_that_fails_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(subprocess.CalledProcessError):
        hook(tmp_path).initialize("standard", data())


@pytest.mark.parametrize(
    ("platform", "libraries", "tag"),
    [
        ("linux-x86_64", [b"GLIBC_2.2.5"], "manylinux_2_17_x86_64"),
        ("linux-x86_64", [b"GLIBC_2.2.5 GLIBC_2.29", b"GLIBC_2.14"], "manylinux_2_29_x86_64"),
        ("linux-aarch64", [b"GLIBC_2.17"], "manylinux_2_17_aarch64"),
        ("linux-x86_64", [b"musl"], "linux_x86_64"),
        ("macosx-14.0-arm64", [b""], "macosx_14_0_arm64"),
        ("win-amd64", [b""], "win_amd64"),
    ],
)
def test_tags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, libraries: list[bytes], tag: str
) -> None:
    monkeypatch.setattr(sysconfig, "get_platform", lambda: platform)
    files = [tmp_path / str(number) for number in range(len(libraries))]
    for file, content in zip(files, libraries, strict=True):
        file.write_bytes(content)
    assert platform_tag(files) == tag


def test_a_linker_is_asked_for_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, str] = {}
    monkeypatch.setattr(shutil, "which", found.get)
    assert hook(tmp_path).dependencies() == ["ziglang"]
    for name in ("cc", "gcc", "clang"):
        found.clear()
        found[name] = f"/bin/{name}"
        assert hook(tmp_path).dependencies() == []


def test_the_hook_looks_for_the_linkers_that_are_used() -> None:
    """It cannot import the package, which is not there yet."""
    from steelyard.native import linking

    def names(module: Any) -> list[str]:
        return re.findall(r'\("cc".*?\)', Path(module.__file__).read_text(encoding="utf-8"))

    assert len(names(hatch_build)) == 1
    assert names(hatch_build) == names(linking)


def test_the_project_uses_the_hook() -> None:
    import tomllib

    project = tomllib.loads(
        (Path(hatch_build.__file__).parent / "pyproject.toml").read_text(encoding="utf-8")
    )
    assert "custom" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]
    assert any(each.startswith("numba") for each in project["build-system"]["requires"])
