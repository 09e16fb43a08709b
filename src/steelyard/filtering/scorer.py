"""`Scorer`: a model of a filter. Its scores are named after its file: `quality_p`, `language_label`."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._messages import listed
from steelyard._parameters import Parameter
from steelyard.io.errors import InputError
from steelyard.losses import Loss
from steelyard.scoring.loaded_model import load_to_predict
from steelyard.scoring.score_columns import filter_columns, filter_scores

Values = NDArray[Any]


class RankingNeededError(InputError):
    """Rows are to be ranked, and there are several scores to rank them by."""

    def __init__(self, rankings: Sequence[str]) -> None:
        self.rankings = list(rankings)
        example = Parameter("by", self.rankings[0])
        super().__init__(f"the best rows by which score? There are {listed(rankings)} (", example, ")")


class Scorer:
    """One model of a filter."""

    def __init__(self, path: Path, loss: type[Loss] | None = None, text: str | None = None) -> None:
        self.model = load_to_predict(path, loss).for_text(text)
        self.spec = self.model.spec()
        self.name = re.sub(r"\W", "_", path.stem)
        with path.open("rb") as file:
            self.digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        self.meaning = self.model.meaning
        self.classes = list(self.meaning.classes or ())
        self.columns = filter_columns(self.meaning)
        self._scores = filter_scores(self.meaning)
        self.scores = {column.name: column.numeric for column in self._scores}
        """The names of its scores, and whether each is a number."""

    @property
    def rankings(self) -> list[str]:
        """The numbers by which rows can be ranked: one for each class, where there are classes."""
        return [name for name in self.scores if "[" in name] or self.columns

    def score(self, predictions: NDArray[np.float64]) -> dict[str, Values]:
        """All scores, by name."""
        found = self.meaning.of(predictions)
        return {column.name: column.values(found) for column in self._scores}


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
        own = [each for each in self.each if len(each.classes) == 2 and each.meaning.has_probabilities]
        return {f"{scorer.name}_p": scorer.classes[1] for scorer in own}

    @property
    def columns(self) -> list[str]:
        return [f"{scorer.name}_{column}" for scorer in self.each for column in scorer.columns]

    def ranking(self, by: str | None) -> str:
        """The score by which rows are ranked. The class is never guessed: either may be the better one."""
        single = len(self.each) == 1
        rankings = [
            score if single else f"{scorer.name}_{score}" for scorer in self.each for score in scorer.rankings
        ]
        if by is None and len(rankings) == 1:
            return rankings[0]
        if by is None or by in self._of_second_class:
            raise RankingNeededError(rankings)
        if not self.known.get(by):
            raise InputError(f"{by!r} is not a score that can rank rows; there are {', '.join(rankings)}")
        return by

    @property
    def _of_second_class(self) -> set[str]:
        """Scores of models with two classes whose names do not say which class they are of."""
        own = [scorer for scorer in self.each if len(scorer.classes) == 2]
        return {f"{scorer.name}_{score}" for scorer in own for score in ("p", "raw")} | (
            {"p", "raw"} if own and len(self.each) == 1 else set()
        )

    def score(self, predictions: Sequence[NDArray[np.float64]]) -> dict[str, Values]:
        found: dict[str, Values] = {}
        for scorer, own in zip(self.each, predictions, strict=True):
            scores = scorer.score(own)
            found |= {f"{scorer.name}_{score}": values for score, values in scores.items()}
            if len(self.each) == 1:
                found |= scores
        return found
