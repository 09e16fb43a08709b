"""`Scorer`: a model, and the scores that it adds to rows.

Two classes have `p`, the probability of the second; several have `label`, the predicted one, and `p`, its
probability (`p[NAME]` is that of each); numbers and losses without probabilities have `raw`.
Columns are named after the model's file: `quality_p`, `language_label`.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.engine import loaded_model, probabilities
from steelyard.io.errors import InputError
from steelyard.losses import Loss

Values = NDArray[Any]


class Scorer:
    """One model of a filter."""

    def __init__(self, path: Path, loss: type[Loss] | None = None, text: str | None = None) -> None:
        self.model = loaded_model.load_to_predict(path, loss).for_text(text)
        self.spec = self.model.spec()
        self.name = re.sub(r"\W", "_", path.stem)
        with path.open("rb") as file:
            self.digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        self.classes = self.model.class_names or []
        self._numbers = np.array(self.classes, object)
        number = "p" if self.model.has_probabilities else "raw"
        self.columns = ["label", number] if len(self.classes) > 2 else [number]
        self.scores = {"raw": True}
        """The names of its scores, and whether each is a number."""
        if self.classes:
            self.scores = {"label": False} | self.scores
        if self.model.has_probabilities:
            self.scores = {"p": True} | self.scores | {f"p[{name}]": True for name in self.classes}

    @property
    def best_score(self) -> str:
        """The number by which rows are ranked."""
        return self.columns[-1]

    def score(self, predictions: NDArray[np.float64]) -> dict[str, Values]:
        """All scores, by name."""
        several = predictions.ndim == 2
        found: dict[str, Values] = {"raw": predictions.max(axis=1) if several else predictions}
        if self.classes:
            found["label"] = self._numbers[probabilities.decide(self.model.loss, predictions)]
        if self.model.has_probabilities:
            chances = probabilities.class_probabilities(
                self.model.loss, predictions, self.model.content.calibration
            )
            found |= {f"p[{name}]": chances[:, code] for code, name in enumerate(self.classes)}
            found["p"] = chances.max(axis=1) if several else chances[:, 1]
        return found


class Scorers:
    """The models of a filter. With one, its scores go by their short names as well: `p` is `quality_p`."""

    def __init__(
        self, paths: Sequence[Path], loss: type[Loss] | None = None, text: str | None = None
    ) -> None:
        self.each = [Scorer(path, loss, text) for path in paths]
        names = [scorer.name for scorer in self.each]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two models are called {name!r}, which names their scores: rename a file")
        self.known: dict[str, bool] = {}
        if len(self.each) == 1:
            self.known |= self.each[0].scores
        for scorer in self.each:
            self.known |= {f"{scorer.name}_{score}": kind for score, kind in scorer.scores.items()}

    @property
    def classes(self) -> dict[str, list[str]]:
        """The names that each label may have."""
        found = {f"{scorer.name}_label": scorer.classes for scorer in self.each}
        return found | ({"label": self.each[0].classes} if len(self.each) == 1 else {})

    @property
    def positives(self) -> dict[str, str]:
        """The class whose probability is in a column, of the models with two."""
        own = [each for each in self.each if len(each.classes) == 2 and each.model.has_probabilities]
        return {f"{scorer.name}_p": scorer.classes[1] for scorer in own}

    @property
    def columns(self) -> list[str]:
        return [f"{scorer.name}_{column}" for scorer in self.each for column in scorer.columns]

    @property
    def best_score(self) -> str | None:
        """By which rows are ranked; None where there are several models."""
        return self.each[0].best_score if len(self.each) == 1 else None

    def score(self, predictions: Sequence[NDArray[np.float64]]) -> dict[str, Values]:
        found: dict[str, Values] = {}
        for scorer, own in zip(self.each, predictions, strict=True):
            scores = scorer.score(own)
            found |= {f"{scorer.name}_{score}": values for score, values in scores.items()}
            if len(self.each) == 1:
                found |= scores
        return found
