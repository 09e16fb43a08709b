"""The levels of a processor, whatever the one that runs this test."""

import platform
from pathlib import Path

import pytest

from steelyard.native import processor

V3 = sorted(processor.LEVELS["x86-64-v3"])
V4 = V3 + sorted(processor.LEVELS["x86-64-v4"])


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "levels", processor.levels.__wrapped__)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.delenv(processor.VARIABLE, raising=False)


def has(monkeypatch: pytest.MonkeyPatch, *flags: str) -> None:
    text = f"processor\t: 0\nflags\t\t: fpu sse2 {' '.join(flags)}\nbugs\t\t: spectre\n\nflags\t\t: fpu\n"
    monkeypatch.setattr(Path, "read_text", lambda file: text if file == Path("/proc/cpuinfo") else "")


@pytest.mark.parametrize(
    ("flags", "levels"),
    [
        (V4, ("x86-64-v4", "x86-64-v3", "x86-64")),
        (V3, ("x86-64-v3", "x86-64")),
        (V3[:-1], ("x86-64",)),
        (V4[:-1], ("x86-64-v3", "x86-64")),
        (V4[1:], ("x86-64",)),  # it lacks what a level below asks for
        ([], ("x86-64",)),
    ],
)
def test_levels(monkeypatch: pytest.MonkeyPatch, flags: list[str], levels: tuple[str, ...]) -> None:
    has(monkeypatch, *flags)
    assert processor.levels() == levels
    assert processor.level() == levels[0]


@pytest.mark.parametrize("text", ["", "processor: 0\n"])
def test_a_system_that_does_not_say_has_the_lowest(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(Path, "read_text", lambda file: text)
    assert processor.levels() == ("x86-64",)


def test_so_has_a_system_without_such_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(file: Path) -> str:
        raise FileNotFoundError(file)

    monkeypatch.setattr(Path, "read_text", missing)
    assert processor.levels() == ("x86-64",)


def test_a_lower_level_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, *V4)
    for name, levels in (
        ("x86-64-v4", ("x86-64-v4", "x86-64-v3", "x86-64")),
        ("x86-64-v3", ("x86-64-v3", "x86-64")),
        ("x86-64", ("x86-64",)),
        ("", ("x86-64-v4", "x86-64-v3", "x86-64")),
    ):
        monkeypatch.setenv(processor.VARIABLE, name)
        assert processor.levels() == levels


@pytest.mark.parametrize("name", ["x86-64-v4", "x86-64-v2", "generic", "fast"])
def test_a_level_that_it_lacks_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    has(monkeypatch, *V3)
    monkeypatch.setenv(processor.VARIABLE, name)
    message = f"^STEELYARD_PROCESSOR is '{name}'; this processor has x86-64-v3, x86-64$"
    with pytest.raises(ValueError, match=message):
        processor.levels()


@pytest.mark.parametrize("machine", ["arm64", "aarch64", "riscv64"])
def test_other_processors_have_one_level(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setenv(processor.VARIABLE, "x86-64-v3")  # says nothing about them
    assert processor.levels() == processor.all_levels() == ("generic",)


def test_wheels_bring_every_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "AMD64")
    assert processor.all_levels() == ("x86-64-v4", "x86-64-v3", "x86-64")
