"""Models of several kinds, each with rows to predict, and what the compiled code predicts for them."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.cli import scoring
from steelyard.scoring.loaded_model import LearnedModel
from tests.cli.running import run
from tests.filtering.corpus import rows, write_jsonl

TEXT = ("--text", "text", "--ignore", "id", "--bits", "12")
_QUALITY = ("--label", "quality", "--ignore", "language", *TEXT)
KINDS: dict[str, tuple[str, ...]] = {
    "words": _QUALITY,
    "bigrams": ("--words", "2", "--repeated", "sublinear", *_QUALITY),
    "characters": ("--characters", "2-4", "--words", "0", *_QUALITY),
    "classes": ("--label", "language", "--ignore", "quality", "--repeated", "counts", *TEXT),
    "table": (
        "--label", "quality", "--category", "language", "--number", "id", "--repeated", "binary",
        "--text", "text", "--bits", "12", "--loss", "logistic", "--no-calibrate",
    ),
    "offsets": (
        "--label", "size", "--ignore", "quality", "--category", "language", "--offset", "before",
        "--words", "3", *TEXT,
    ),
}  # fmt: skip
HARD: list[dict[str, Any]] = [
    {"text": "É été 0042 99999999999 Ünïcode\tTAB  run", "language": " en ", "id": "7"},
    {"text": "", "language": None, "id": None},
    {"text": None, "language": "", "id": "NA"},
    {"text": "a", "language": True, "id": True},
    {"text": 12.5, "language": 17, "id": 3.25},
    {},
]


def numbers(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each | {"size": each["id"] / 7.0, "before": each["id"] % 3} for each in found]


def made(kind: str, folder: Path) -> tuple[LearnedModel, list[dict[str, Any]], list[str]]:
    """The model, rows, and the raw predictions of them as `predict` prints them."""
    data = write_jsonl(folder / "train.jsonl", numbers(rows(200, 1)))
    run("train", data, *KINDS[kind], "-o", folder / f"{kind}.model")
    given = numbers(rows(100, 2)) + HARD
    write_jsonl(folder / "rows.jsonl", given)
    shown = run("predict", folder / f"{kind}.model", folder / "rows.jsonl").stdout.splitlines()
    return scoring.load_learned(folder / f"{kind}.model", None), given, shown


def assert_same(raw: Any, shown: list[str]) -> None:
    """The nine digits that `predict` prints; of several classes, what single precision leaves of them.

    (There sums are made in single precision, in an order that depends on the processor.)
    """
    if np.ndim(raw) == 1:
        assert [f"{each:.9g}" for each in np.asarray(raw).tolist()] == shown
    else:
        np.testing.assert_allclose(raw, [list(map(float, line.split())) for line in shown], atol=2e-6)


def as_read(model: LearnedModel) -> dict[str, Any]:
    from steelyard import exporting

    found: dict[str, Any] = json.loads(json.dumps(exporting.as_json(model)))
    return found
