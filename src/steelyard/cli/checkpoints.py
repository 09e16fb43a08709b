"""Keeping the model: at the end, and now and then before it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard.cli import interrupts, outputs, stored
from steelyard.cli.training import Training
from steelyard.io.errors import InputError


class Keeper:
    """Writes MODEL when all is done; until then MODEL.checkpoint, if asked to, which then goes."""

    def __init__(self, plan: Any, training: Training, output: Path | None, every: int | None) -> None:
        if every is not None and output is None:
            raise InputError("--checkpoint-every needs a model to keep: -o MODEL")
        outputs.check([output], plan.paths)
        self._plan = plan
        self._training = training
        self._output = output
        self._every = every
        self._rows = 0
        self._last = 0

    def after_chunk(self, rows: int) -> None:
        """Whether enough rows have been learned since the last checkpoint is looked at after each chunk."""
        self._rows += rows
        if self._every is None or self._output is None or self._rows - self._last < self._every:
            return
        self._last = self._rows
        self._check()
        plan = self._plan
        stored.save(
            checkpoint_of(self._output),
            plan.model,
            plan.reading,
            plan.names,
            (plan.paths, plan.run, self._training),
        )

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Whoever interrupts is told what is kept of the run."""
        try:
            with interrupts.found():
                yield
        except KeyboardInterrupt:
            if self._output is not None and self._last:
                checkpoint = checkpoint_of(self._output)
                click.echo(f"interrupted: --resume {checkpoint} goes on from its last checkpoint", err=True)
            raise

    def finish(self) -> None:
        self._check()
        if self._output is None:
            return
        plan = self._plan
        stored.save(self._output, plan.model, plan.reading, plan.names, None)
        checkpoint_of(self._output).unlink(missing_ok=True)

    def _check(self) -> None:
        """Nothing is kept that cannot predict."""
        model = self._plan.model
        if not (np.isfinite(model.weights).all() and np.isfinite([model.bias, model.clock]).all()):
            raise InputError(
                f"the model has left the range of {model.settings.dtype}: some label, base or importance "
                "is too large; scale them, or try --dtype float64"
            )


def checkpoint_of(output: Path) -> Path:
    return output.with_name(output.name + ".checkpoint")
