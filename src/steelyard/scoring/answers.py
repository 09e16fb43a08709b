"""Scores as a program reads them: a line of text for each row, or a JSON object."""

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.scoring.score_columns import check_kind
from steelyard.scoring.scores import Meaning, Scores


class TextAnswers:
    """A line for each row: its raw prediction, probability or label, or its `top` classes.

    With more than two classes, a line of numbers has one for each class, in the order of the classes.
    """

    def __init__(self, meaning: Meaning, kind: str, top: int | None = None) -> None:
        check_kind(meaning, kind if top is None else "probability")
        self._kind = kind
        self._classes = len(meaning.classes or ())
        self._top = None if top is None else min(top, self._classes)

    def __call__(self, scores: Scores) -> list[bytes]:
        if self._top is not None:
            ranks = range(self._top)
            columns = [zip(scores.label_at(k), scores.probability_at(k).tolist(), strict=True) for k in ranks]
            return [
                " ".join(f"{name}:{chance:.9g}" for name, chance in row).encode()
                for row in zip(*columns, strict=True)
            ]
        if self._kind == "label":
            return [str(name).encode() for name in scores.labels.tolist()]
        numbers = scores.raw
        if self._kind == "probability":
            numbers = scores.probabilities if self._classes > 2 else scores.probability
        if numbers.ndim == 1:
            return [b"%.9g" % value for value in numbers.tolist()]
        return [b" ".join(b"%.9g" % value for value in row) for row in numbers.tolist()]


def tagged(texts: Sequence[bytes], tags: Sequence[bytes]) -> list[bytes]:
    """Each line followed by the tag of its row, if it has one."""
    return [text + (b" " + tag if tag else b"") for text, tag in zip(texts, tags, strict=True)]


def objects(scores: Scores) -> Iterator[dict[str, Any]]:
    """The label, the probabilities and the prediction of each row, as far as there are some."""
    names, raw = scores.meaning.classes, scores.raw.tolist()
    if names is None:
        yield from ({"prediction": value} for value in raw)
        return
    known = scores.meaning.has_probabilities
    chances = scores.probabilities.tolist() if known else [()] * len(raw)
    for label, chance, value in zip(scores.labels.tolist(), chances, raw, strict=True):
        answer: dict[str, Any] = {"label": label}
        if known:
            answer["probabilities"] = dict(zip(names, chance, strict=True))
        answer["prediction"] = dict(zip(names, value, strict=True)) if isinstance(value, list) else value
        yield answer
