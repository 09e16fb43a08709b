"""`train --checkpoint-every` and `--resume`: what is saved, what a model keeps, and what may change."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.common import restored_interrupts
from steelyard.cli.wording import option_name
from steelyard.engine.file_training import FileTraining
from steelyard.engine.passes import LearnedPiece
from steelyard.io.errors import InputError
from steelyard.schedules import AUTO

# What a model decides by itself when it is resumed; its schedule may change.
SCHEDULE = ("learning_rate", "initial_t", "power_t")
_KEPT_BY_A_MODEL = {
    "update", "scaling", "l1", "l2", "average", "bias", "dtype", "class_weight", "label",
    "weight", "propensity", "count", "positives", "offset", "tag", "text", "category", "number", "ignore",
    "encoding", "separator", "header", "words", "characters", "repeated", "loss", "bits", "interactions",
    "labels", "classes", "quadratic", "keep", "ngram", "skips", "format_", "weight_factor", "weight_scale",
    "names",
    *options.loss_parameter_names(),
}  # fmt: skip


def check_kept(given: set[str], loss: str | None, path: Path) -> None:
    """Refuse options for what a model decides by itself."""
    kept = given & _KEPT_BY_A_MODEL
    if loss is not None and ":" in loss:
        kept -= {"loss"}  # a loss of the user's own is needed to load the model
    if kept:
        listed = ", ".join(map(option_name, sorted(kept)))
        raise InputError(f"--resume keeps the settings of {path}: leave out {listed}")


def change_schedule(training: FileTraining, schedule: dict[str, Any], path: Path) -> None:
    """Let the same models continue at another rate."""
    listed = ", ".join(map(option_name, schedule))
    if training.resumed_from is not None and training.resumed_from.run is not None:
        raise InputError(f"{path} is the checkpoint of a run, which keeps its settings: leave out {listed}")
    settings = training.engine.settings
    if len(settings) > 1 or schedule.get("learning_rate") == AUTO:
        raise InputError(
            "--learning-rate auto is for a new model, and a model trained with it keeps all its rates: "
            f"leave out {listed}"
        )
    training.use(training.engine.with_settings([replace(settings[0], **schedule)]))


class Checkpoints:
    """Saves MODEL.checkpoint now and then, if asked to."""

    def __init__(self, training: FileTraining, path: Path | None, every: int | None) -> None:
        self._training, self._path, self._every = training, path, every
        self._rows = self._last = 0

    def after_piece(self, learned: LearnedPiece) -> None:
        self._rows += learned.rows
        if self._every is None or self._path is None or self._rows - self._last < self._every:
            return
        self._last = self._rows
        self._training.save_checkpoint(self._path)

    @contextmanager
    def told_when_interrupted(self) -> Iterator[None]:
        """Tells whoever interrupts what is saved of the run."""
        try:
            with restored_interrupts():
                yield
        except KeyboardInterrupt:
            if self._last:
                click.echo(f"interrupted: --resume {self._path} continues from its last checkpoint", err=True)
            raise
