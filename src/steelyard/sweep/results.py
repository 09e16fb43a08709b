"""What has come of each point of a grid, and which is best.

`columns` is shaped like scikit-learn's `cv_results_`: a dict of arrays with a place for every point.

- `progressive_loss`, `progressive_error`: of predictions made before their row was learned, in the first
  pass. No row is predicted by a model that has seen it, so they are honest for each single model. The
  best of many is the luckiest too: its figure is a little too good, the more so the larger the grid.
- `held_out_loss`, `held_out_accuracy`: of the rows held out, after all passes. The same holds for the
  best of them; rows that chose a model cannot tell how good it is. Keep others for that.
- `diverged`: whether the model left the range of its numbers. It then has no loss, and all of its
  predictions from there on count as wrong.
- `score`: what the points are compared by, the more the better, and `rank`, from 1.

Losses of different kinds cannot be compared. So by default points are compared by their loss if all have the
same, by their accuracy if they have not; on rows held out if there are any, else progressively.
"""

import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _atomic_files, losses
from steelyard._parameters import Message, Parameter
from steelyard.io import arrow_arrays
from steelyard.io.csv_text import csv_line
from steelyard.losses import Loss
from steelyard.sweep.grid import Point


@dataclass(frozen=True)
class Results:
    """Found out so far; places that nothing is known about hold NaN."""

    points: list[Point]
    found: dict[str, NDArray[Any]]
    criterion: str

    @classmethod
    def empty(
        cls, points: Sequence[Point], *, classes: int, held_out: bool, select: str | None = None
    ) -> "Results":
        names = ["progressive_loss"] + ["progressive_error"] * (classes > 0)
        names += ["held_out_loss"] * held_out + ["held_out_accuracy"] * (held_out and classes > 0)
        found: dict[str, NDArray[Any]] = {name: np.full(len(points), np.nan) for name in names}
        several = len({point.settings.loss for point in points}) > 1
        default = names[-1] if several else names[-2 if classes else -1]
        if select is not None and select not in names:
            hint = (
                ("; hold rows out for it: ", Parameter("holdout", 10))
                if select.startswith("held_out")
                else ()
            )
            raise ValueError(
                Message(f"there is no {select!r} to select by; there is {', '.join(names)}", *hint)
            )
        return cls(list(points), found | {"diverged": np.zeros(len(points), bool)}, select or default)

    def fill(self, numbers: list[int], columns: dict[str, NDArray[Any]]) -> None:
        for name, column in columns.items():
            self.found[name][numbers] = column

    @property
    def comparable(self) -> bool:
        """Whether there is one best point: not among different losses by their values."""
        return not self.criterion.endswith("loss") or len(set(self._losses())) == 1

    @property
    def compared(self) -> bool:
        """Whether any point has a score: not so where all have diverged, or no row was held out."""
        return bool(np.isfinite(self.score).any())

    @property
    def score(self) -> NDArray[np.float64]:
        """The criterion, the more the better; −∞ for the diverged."""
        sign = 1.0 if self.criterion == "held_out_accuracy" else -1.0
        column = sign * self.found[self.criterion]
        return np.where(np.isnan(column) | self.found["diverged"], -np.inf, column)

    @property
    def rank(self) -> NDArray[np.int64]:
        """1 for the best; among points of the same loss only, if others cannot be compared."""
        score, groups = self.score, np.array(self._losses())
        rank = np.ones(len(score), np.int64)
        for group in np.unique(groups):
            here = np.ones(len(score), bool) if self.comparable else groups == group
            rank[here] = 1 + np.array([np.count_nonzero(score[here] > each) for each in score[here]])
        return rank

    @property
    def best_index(self) -> int:
        if not self.comparable:
            raise ValueError(
                f"points of different losses cannot be compared by their {self.criterion}: "
                "sweep over one loss at a time, or select by accuracy where there are classes"
            )
        if self.found["diverged"].all():
            raise ValueError(
                Message(
                    "every model has diverged: lower the learning rates, or use ",
                    Parameter("update", "invariant"), ", which cannot",
                )
            )  # fmt: skip
        if not self.compared:
            done = "held out" if self.criterion.startswith("held_out") else "learned"
            raise ValueError(
                f"no row with a label and a weight was {done}, so there is no {self.criterion} to compare by"
                + ("; hold out more of them, as in every fifth" if done == "held out" else "")
            )
        return int(np.argmax(self.score))

    @property
    def columns(self) -> dict[str, Any]:
        """Like `cv_results_`: `params`, `param_…` (masked where a point has no such), and the figures."""
        masked = {}
        for name in self._names():
            column = np.ma.masked_all(len(self.points), object)  # type: ignore[no-untyped-call]
            for place, point in enumerate(self.points):
                if name in point.params:
                    column[place] = point.params[name]
            masked[f"param_{name}"] = column
        params = [point.params for point in self.points]
        return {"params": params, **masked, **self.found, "score": self.score, "rank": self.rank}

    def rows(self) -> list[dict[str, Any]]:
        """A flat dict for each point, as JSON can hold it."""
        names = self._names()
        figures = self.found | {"score": self.score, "rank": self.rank}
        return [
            {name: _plain(point.params.get(name)) for name in names}
            | {name: _plain(column[place].item()) for name, column in figures.items()}
            for place, point in enumerate(self.points)
        ]

    def save(self, path: str | Path) -> None:
        """Write all rows, as .csv, .json or .parquet."""
        path = Path(path)
        content = writer(path)(self.rows())
        with _atomic_files.replacing(path) as temporary:
            temporary.write_bytes(content)

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for point in self.points for name in point.params))

    def _losses(self) -> list[str]:
        return [loss_name(point.settings.loss) for point in self.points]


def writer(path: Path) -> Callable[[list[dict[str, Any]]], bytes]:
    """The function that writes files of this suffix; looked up before a long run, which else might end in an error."""
    if path.suffix.lower() in (".parquet", ".pq"):
        arrow_arrays.import_pyarrow(str(path))
    known = {".csv": _csv, ".json": _json, ".parquet": _parquet, ".pq": _parquet}
    if path.suffix.lower() not in known:
        raise ValueError(f"{path}: results are written as {', '.join(known)}; its suffix is none of these")
    return known[path.suffix.lower()]


def _csv(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{csv_line(cells)}\n" for cells in (rows[0], *(row.values() for row in rows))).encode()


def _json(rows: list[dict[str, Any]]) -> bytes:
    return ("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n").encode()


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow = arrow_arrays.import_pyarrow("results")
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), content)
    return content.getvalue()


def loss_name(loss: Loss) -> str:
    """The name, with the parameters that are not the usual ones: quantile(tau=0.9)."""
    name = losses.name_of(loss)
    usual = {} if name is None else losses.parameters(name)
    own = [f"{key}={value:g}" for key, value in asdict(loss).items() if usual.get(key) != value]
    return (name or type(loss).__name__) + (f"({', '.join(own)})" if own else "")


def _plain(value: Any) -> Any:
    if isinstance(value, Loss):
        return loss_name(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no NaN, and no infinity
    return value


def measured(results: Results) -> tuple[str, NDArray[np.float64], bool]:
    """A figure of each model, its name, and whether more is better: accuracy, if there are classes."""
    found = results.found
    if "held_out_accuracy" in found:
        return "held-out accuracy", found["held_out_accuracy"], True
    if "progressive_error" in found:
        return "progressive accuracy", 1.0 - found["progressive_error"], True
    if "held_out_loss" in found:
        return "held-out loss", found["held_out_loss"], False
    return "progressive loss", found["progressive_loss"], False
