"""`TrainingRecord`: the files that a model was trained on, and its learning curve, as model files store them.

The learning curve has the progressive loss and error rate after 1, 2, 4, 8, … rows and at the end, rounded so
that they do not depend on how the files were cut into blocks.
"""

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import _field_types
from steelyard.engine.holdout import Holdout, Share, from_json
from steelyard.engine.ordered_sums import running_totals
from steelyard.engine.passes import LearnedPiece
from steelyard.engine.protocol import Engine
from steelyard.io import sources
from steelyard.io.errors import InputError
from steelyard.losses import OneOf


@dataclass
class TrainingRecord:
    """A record. `files` are [name, bytes, digest], or [name] for a pipe. `curve` is [rows, loss, error rate]."""

    files: list[list[Any]] = field(default_factory=list)
    rows: int = 0
    learned: int = 0
    curve: list[list[float | None]] = field(default_factory=list)
    held_out: list[list[Any]] = field(default_factory=list)
    """[files, rule] of each run that held out rows of files that can be read again."""
    learned_later: list[list[Any]] = field(default_factory=list)
    """The runs of `held_out` whose rows a later run has learned."""

    @classmethod
    def of(cls, stored: dict[str, Any] | None) -> "TrainingRecord":
        """Read a stored record, to continue it: the last point of its curve is dropped if it was only its end."""
        try:
            fields = {
                name: value for name, value in (stored or {}).items() if name != "wrong"
            }  # in older files
            record = cls(**copy.deepcopy(fields))
            _field_types.check(record)
            record.curve = [point for point in record.curve if int(point[0] or 0).bit_count() == 1]
        except (TypeError, IndexError) as error:
            raise InputError(
                f"a damaged model: its record of the training makes no sense ({error})"
            ) from None
        return record

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def add_files(self, paths: Sequence[str], held_out: Holdout = None) -> None:
        entries = [_entry(path) for path in paths]
        self.files += [entry for entry in entries if entry not in self.files]
        digests = [entry[1:] for entry in entries]
        run = [digests, list(held_out) if isinstance(held_out, Share) else held_out]
        again = [
            other for other in self.held_out if other != run and any(each in digests for each in other[0])
        ]  # files that are learned again with other rows held out
        self.held_out = [other for other in self.held_out if other not in again]
        self.learned_later += [other for other in again if other not in self.learned_later]
        if held_out is not None and all(digests) and run not in self.held_out:
            self.held_out.append(run)

    def learned_later_of(self, paths: Sequence[str]) -> bool:
        """Return whether rows of these files were held out at first, and learned later."""
        digests = [_entry(path)[1:] for path in paths]
        return any(files == digests for files, _ in self.learned_later)

    def held_out_of(self, paths: Sequence[str]) -> Holdout:
        """Return the holdout of these files, if some rows of them were never learned."""
        digests = [_entry(path)[1:] for path in paths]
        return next((from_json(rule) for files, rule in self.held_out if files == digests), None)

    def has(self, path: str) -> bool:
        """Return whether a file with the same bytes was learned, whatever its name."""
        entry = _entry(path)
        return len(entry) > 1 and any(entry[1:] == other[1:] for other in self.files)

    def add(self, learned: LearnedPiece, engine: Engine) -> None:
        """Add a piece of the first pass that was just learned."""
        first, count = self.rows, len(learned.examples)
        self.rows += count
        weights = learned.examples.sample_weight
        self.learned += int(np.count_nonzero(weights))
        classes = engine.classes > 2 or isinstance(engine.settings[0].loss.labels, OneOf)
        powers = (2**k for k in range(self.rows.bit_length()))
        points = [power for power in powers if first < power <= self.rows]
        assert learned.predictions is not None
        labels = np.nan_to_num(learned.examples.labels)
        column = weights[:, np.newaxis]
        counted = column > 0.0
        if points:
            with np.errstate(over="ignore", invalid="ignore"):  # a model out of range is refused later
                losses = np.where(counted, column * engine.row_losses(learned.predictions, labels), 0.0)
            errors = np.zeros_like(losses)
            if classes:
                errors = np.where(counted, column * engine.row_errors(learned.predictions, labels), 0.0)
            loss = running_totals(learned.loss_before, losses)
            wrong = running_totals(learned.error_before, errors)
            weight = running_totals(learned.weight_before, np.broadcast_to(column, losses.shape))
            for point in points:
                row = point - first
                best = int(np.argmin(np.nan_to_num(loss[row], nan=np.inf)))  # so far
                if weight[row, best] > 0.0:
                    error = wrong[row, best] / weight[row, best] if classes else None
                    mean = loss[row, best] / weight[row, best]
                    self.curve.append([point, _rounded(mean), _rounded(error)])

    def finish(self, engine: Engine) -> None:
        """Add the end of the curve, unless it is there already."""
        if self.rows and (not self.curve or self.curve[-1][0] != self.rows):
            best = engine.best
            loss, error = float(engine.progressive_loss[best]), None
            if self.curve and self.curve[-1][2] is not None:
                error = float(engine.progressive_error[best])
            self.curve.append([self.rows, _rounded(loss), _rounded(error)])


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(f"{value:.5g}")


def _entry(path: str) -> list[Any]:
    if sources.once_only(path):
        return ["standard input" if path == sources.STANDARD_INPUT else Path(path).name]
    return [Path(path).name, *sources.fingerprint(path)]
