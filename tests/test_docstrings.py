"""`help()` suffices: every public class says its parameters, its attributes, and has an example."""

import inspect
from typing import Any

import pytest

import steelyard

CLASSES = [
    value for name in steelyard.__all__ if inspect.isclass(value := getattr(steelyard, name))
]  # fmt: skip
ESTIMATORS = [cls for cls in CLASSES if hasattr(cls, "get_params")]


def section(cls: type[Any], title: str) -> str:
    """The text of a section in numpydoc's style; empty if there is none."""
    lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
    for number, line in enumerate(lines):
        if line == title and lines[number + 1] == "-" * len(title):
            rest = lines[number + 2 :]
            ends = [k for k, underline in enumerate(rest) if underline and set(underline) == {"-"}]
            return "\n".join(rest[: ends[0] - 1] if ends else rest)
    return ""


def named(text: str) -> set[str]:
    """The names that a section describes: what stands before the colon in lines that are not indented."""
    heads = [line.split(" : ")[0] for line in text.splitlines() if line and not line.startswith(" ")]
    return {name for head in heads for name in head.split(", ")}


def test_there_are_some() -> None:
    assert len(ESTIMATORS) == 5
    assert len(CLASSES) > len(ESTIMATORS)


@pytest.mark.parametrize("cls", CLASSES)
def test_parameters_and_an_example(cls: type[Any]) -> None:
    assert ">>> " in section(cls, "Examples")
    if not issubclass(cls, Warning):
        assert named(section(cls, "Parameters")) == set(inspect.signature(cls).parameters)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_attributes(cls: type[Any]) -> None:
    described = named(section(cls, "Attributes"))
    properties = {name for name, value in inspect.getmembers(cls) if isinstance(value, property)}
    assert {name for name in properties if name.endswith("_") and not name.startswith("_")} <= described


@pytest.mark.parametrize("cls", CLASSES)
def test_every_public_method_has_a_docstring(cls: type[Any]) -> None:
    own = [
        value
        for name, value in inspect.getmembers(cls)
        if not name.startswith("_") and inspect.isfunction(value) and value.__module__.startswith("steelyard")
    ]
    assert [method.__qualname__ for method in own if not method.__doc__] == []


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_fit_and_predict_say_what_they_take(cls: type[Any]) -> None:
    for name in ("fit", "partial_fit", "predict", "fit_files", "ask", "answer"):
        method = getattr(cls, name, None)
        if method is not None:
            assert "Parameters\n" in (inspect.getdoc(method) or ""), name


@pytest.mark.parametrize("module", ["examples", "losses", "updates", "weight_summary"])
def test_functions_of_public_modules(module: str) -> None:
    room = getattr(steelyard, module)
    for name, value in inspect.getmembers(room, inspect.isfunction):
        if not name.startswith("_") and value.__module__ == room.__name__:
            assert value.__doc__, f"{module}.{name}"
