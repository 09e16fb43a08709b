"""`Statistics`: what was read and kept, as counts, so that those of parts add up to those of the whole."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 20  # of a probability
COUNTS = ("rows", "kept", "unreadable", "empty")
"""Unreadable rows are not among the rows. Empty ones are: they have no feature, and the score of nothing."""


class Statistics:
    """Counts of one or more blocks or files. `models` has, for each, the rows and kept rows by score."""

    def __init__(self, content: Mapping[str, Any] | None = None) -> None:
        self.content: dict[str, Any] = dict.fromkeys(COUNTS, 0) | {"models": {}}
        if content is not None:
            self.add(content)

    @classmethod
    def of_block(
        cls,
        scores: Mapping[str, NDArray[Any]],
        names: Sequence[str],
        kept: NDArray[np.bool_],
        unreadable: int,
        empty: int = 0,
    ) -> "Statistics":
        """`names`: the scores to count, by class or in bins of a probability."""
        models = {}
        for name in names:
            values = scores[name]
            if values.dtype == object:
                models[name] = {
                    str(each): _pair(values == each, kept) for each in sorted(set(values.tolist()))
                }
            elif name.endswith("_p"):
                bins = np.minimum((values * BINS).astype(np.int64), BINS - 1)
                every, some = (np.bincount(each, minlength=BINS).tolist() for each in (bins, bins[kept]))
                models[name] = {f"{k / BINS:g}": [every[k], some[k]] for k in range(BINS) if every[k]}
        found = cls()
        found.content = {
            "rows": len(kept), "kept": int(kept.sum()), "unreadable": unreadable, "empty": empty,
            "models": models,
        }  # fmt: skip
        return found

    def add(self, other: Mapping[str, Any]) -> None:
        for name in COUNTS:
            self.content[name] += other[name]
        for model, counts in other["models"].items():
            own = self.content["models"].setdefault(model, {})
            for score, (rows, kept) in counts.items():
                before = own.get(score, [0, 0])
                own[score] = [before[0] + rows, before[1] + kept]

    def as_json(self) -> dict[str, Any]:
        """Sorted, so that the same counts are the same bytes."""
        models = self.content["models"]
        ordered = {name: dict(sorted(models[name].items())) for name in sorted(models)}
        return self.content | {"models": ordered}


def _pair(here: NDArray[np.bool_], kept: NDArray[np.bool_]) -> list[int]:
    return [int(here.sum()), int((here & kept).sum())]
