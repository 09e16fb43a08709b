"""`Checkpoints`: MODEL.checkpoint, saved now and then while a model is trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from steelyard.cli.common import restored_interrupts
from steelyard.engine.file_training import FileTraining
from steelyard.engine.passes import Learned


class Checkpoints:
    """Saves MODEL.checkpoint now and then, if asked to."""

    def __init__(self, training: FileTraining, path: Path | None, every: int | None) -> None:
        self._training, self._path, self._every = training, path, every
        self._rows = self._last = 0

    def after_piece(self, learned: Learned) -> None:
        self._rows += learned.rows
        if self._every is None or self._path is None or self._rows - self._last < self._every:
            return
        self._last = self._rows
        self._training.save_checkpoint(self._path)

    @contextmanager
    def told_when_interrupted(self) -> Iterator[None]:
        """Whoever interrupts is told what is saved of the run."""
        try:
            with restored_interrupts():
                yield
        except KeyboardInterrupt:
            if self._last:
                click.echo(f"interrupted: --resume {self._path} continues from its last checkpoint", err=True)
            raise
