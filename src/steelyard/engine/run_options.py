"""`RunOptions`: the options of a training run over files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard._parameters import Parameter
from steelyard.engine.holdout import Holdout
from steelyard.io import sources
from steelyard.io.errors import InputError

KEPT_BY_CHECKPOINTS = ("passes", "holdout", "shuffle")


@dataclass(frozen=True)
class RunOptions:
    """The options of a run. A checkpoint keeps those that decide what is learned: `KEPT_BY_CHECKPOINTS`."""

    passes: int = 1
    holdout: Holdout = None
    threads: int | None = None
    skip_errors: bool = False
    calibrate: bool = False
    """Whether to fit probabilities to the rows held out."""
    calibrate_progressively: bool = True
    """Whether to fit them to the predictions of the first pass, unless they are fitted to rows held out."""
    weight_scale: str = "auto"
    """For a new model: "auto" brings weights nearer to 1 if they make no sense as counts."""
    shuffle: int | None = None
    """The seed of a random order of the rows; None: they are learned as they come."""
    early_stopping: bool = False
    """Whether to stop when predictions of the rows held out do not improve, and to keep the best models."""

    @property
    def usable_threads(self) -> int:
        return self.threads or min(os.cpu_count() or 1, 4)

    def check(self, paths: Sequence[str]) -> None:
        if self.early_stopping and (self.holdout is None or self.passes == 1):
            raise InputError(
                "early stopping needs rows that are not learned, and several passes: say ",
                Parameter("holdout", 10), " and ", Parameter("passes", 20),
            )  # fmt: skip
        for path in paths:
            if self.passes > 1 and sources.once_only(path):
                name = "standard input" if path == sources.STANDARD_INPUT else path
                raise InputError(f"{name} can be read only once: save it to a file for several passes")
