"""What an exported model must look like, looked at before any of it is used."""

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from steelyard.token_rules import REPEATED

FORMAT = 1
LARGEST = {"float32": 3.4e38, "float64": 1e150}
_MOST_MODELS, _MOST_FEATURES, _MOST_WORDS = 1 << 20, 1 << 32, 1 << 10
_ROLES = ("number", "category", "text", "base")
_HALF = re.compile("[\ud800-\udfff]")  # of a pair: text that cannot be written
Test = Callable[[Any], bool]


def check(content: Any) -> None:
    """A ValueError names the first part that is not as `steelyard export` writes it."""
    if not isinstance(content, dict) or content.get("steelyard") != FORMAT:
        raise ValueError("not a model that steelyard export has written, or one of another version")
    _look(content, _CONTENT)
    if content["kind"] == "table":
        _look(content, _TABLE)
        if content["features"] & (content["features"] - 1):
            raise _refusal("features")
    largest, features = LARGEST[content["dtype"]], content["features"]
    for model in content["models"]:
        if not _fits(model, features, largest):
            raise _refusal("models")
    models, classes = len(content["models"]), content["classes"]
    if classes is not None and (len(classes) < 2 or models != (1 if len(classes) == 2 else len(classes))):
        raise _refusal("classes")
    if content["calibration"] and len(content["calibration"]) != models:
        raise _refusal("calibration")


def _look(content: Mapping[str, Any], tests: dict[str, Test]) -> None:
    for name, test in tests.items():
        if name not in content or not test(content[name]):
            raise _refusal(name)


def _refusal(name: str) -> ValueError:
    return ValueError(f"is damaged: {name!r} is not as steelyard export writes it")


def _is_number(value: Any, largest: float = sys.float_info.max) -> bool:
    return type(value) in (int, float) and -largest <= value <= largest


def _is_count(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _is_list(value: Any, test: Test) -> bool:
    return isinstance(value, list) and all(map(test, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _HALF.search(value)


def _is_object(value: Any, tests: dict[str, Test]) -> bool:
    return isinstance(value, dict) and all(
        name in value and test(value[name]) for name, test in tests.items()
    )


def _is_sigmoid(value: Any) -> bool:
    """Whether it is a slope, a shift, and a bend, which older files do not have."""
    return _is_list(value, _is_number) and len(value) in (2, 3) and min(value[2:], default=0) >= 0


def _is_range(value: Any) -> bool:
    whole = _is_list(value, lambda each: _is_count(each, 1, _MOST_WORDS)) and len(value) == 2
    return value is None or (whole and value[0] <= value[1])


def _fits(model: Any, features: int, largest: float) -> bool:
    def is_weight(value: Any) -> bool:
        return _is_number(value, largest)

    def is_index(value: Any) -> bool:
        return _is_count(value, 0, features - 1)

    tests: dict[str, Test] = {
        "bias": is_weight,
        "indices": lambda value: _is_list(value, is_index),
        "weights": lambda value: _is_list(value, is_weight),
    }
    return _is_object(model, tests) and len(model["indices"]) == len(model["weights"])


_CONTENT: dict[str, Test] = {
    "dtype": lambda value: isinstance(value, str) and value in LARGEST,
    "features": lambda value: _is_count(value, 1, _MOST_FEATURES),
    "classes": lambda value: value is None or _is_list(value, _is_text),
    "kind": lambda value: value in ("matrix", "table"),
    "loss": lambda value: _is_object(
        value,
        {
            "name": _is_text,
            "parameters": lambda given: isinstance(given, dict) and all(map(_is_number, given.values())),
        },
    ),
    "calibration": lambda value: value is None or _is_list(value, _is_sigmoid),
    "models": lambda value: isinstance(value, list) and 0 < len(value) <= _MOST_MODELS,
}
_COLUMN: dict[str, Test] = {"name": _is_text, "role": lambda value: value in _ROLES}
_TEXT: dict[str, Test] = {
    "words": lambda value: _is_count(value, 0, _MOST_WORDS),
    "characters": _is_range,
    "repeated": lambda value: value in REPEATED,
}
_TABLE: dict[str, Test] = {
    "columns": lambda value: _is_list(value, lambda each: _is_object(each, _COLUMN)),
    "missing": lambda value: _is_list(value, _is_text),
    "text": lambda value: _is_object(value, _TEXT) and len(value) == len(_TEXT),
}
