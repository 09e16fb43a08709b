"""`DistributedTraining`: parts of the files are learned side by side and merged, round by round.

The model depends on the plan and the settings alone: not on how many workers there are, which of them does
what, or how often a task is repeated because its worker died. One part is trained as without a cluster, to
the last bit.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import model_file
from steelyard._messages import counted
from steelyard._parameters import Parameter, bare, joined
from steelyard.distributed.engines import TaskEngine
from steelyard.distributed.plan import Plan
from steelyard.engine.class_weights import BALANCED
from steelyard.engine.file_training import FileTraining, resume
from steelyard.engine.run_options import RunOptions
from steelyard.io.errors import InputError
from steelyard.losses import Loss
from steelyard.merging.model_files import Merge, joined_margins, merge_tree, with_fitted_calibration
from steelyard.merging.parts import GRADIENTS
from steelyard.model_file import ModelFile

_RUN = "cluster"


@dataclass(frozen=True)
class Progress:
    """What is done: so many rounds, and so many parts of the present one."""

    plan: Plan
    rounds: int
    parts: int
    content: ModelFile
    """The model file after the last round."""


class DistributedTraining:
    """`run` learns what is left of the plan, and returns the content of the model file."""

    def __init__(
        self,
        content: ModelFile,
        plan: Plan,
        run: RunOptions,
        *,
        by: str = GRADIENTS,
        checkpoint: Path | None = None,
    ) -> None:
        _check(run)
        self.content = content
        self.plan = plan
        self.done = 0
        self._run = replace(run, threads=run.threads or 1)
        self._by = by
        self._checkpoint = checkpoint
        self._learned = content.engine.models[0].clock
        identity = {
            "paths": list(plan.paths),
            "parts": plan.parts,
            "rounds": plan.rounds,
            "passes": plan.passes,
        }
        self._identity = identity | {"by": by}
        if content.run is not None:
            self._go_on(content.run)

    @classmethod
    def begin(cls, training: FileTraining, plan: Plan, **options: Any) -> "DistributedTraining":
        """Distribute a training that has begun, whose files are those of the plan."""
        if training.class_weight == BALANCED:
            raise InputError("class weights that balance need all labels first: give them one by one")
        training.files.look_at_weights()
        content = training.content()
        content.training = None
        return cls(content, plan, training.run_options, **options)

    def run(self, engine: TaskEngine, progress: Callable[[Progress], None] | None = None) -> ModelFile:
        while self.done < self.plan.total:
            self._round(engine, progress)
            self.done += 1
            if self._checkpoint is not None and self.done < self.plan.total:
                content = replace(
                    self.content, run={_RUN: self._identity, "done": self.done, "learned": self._learned}
                )
                model_file.save(self._checkpoint, content)
            if progress is not None:
                progress(Progress(self.plan, self.done, 0, self.content))
        return self.content

    def _round(self, engine: TaskEngine, progress: Callable[[Progress], None] | None) -> None:
        before, parts = self.content, 0

        def finished() -> None:
            nonlocal parts
            parts += 1
            if progress is not None:
                progress(Progress(self.plan, self.done, parts, before))

        start = engine.put(model_file.as_bytes(_without_margins(before) if self.plan.parts > 1 else before))
        loss, number = before.engine.settings[0].loss, self.plan.pass_of(self.done)
        common = (loss, number, self._run)
        if self.plan.parts == 1:
            (files,) = self.plan.files(self.done)
            only = engine.submit(learn_alone, start, *common, files)
            self.content = _loaded(engine.result(only, [only], finished), loss)
            return
        leaves = [
            engine.submit(learn_part, start, *common, self._by, files) for files in self.plan.files(self.done)
        ]
        root = merge_tree(leaves, lambda left, right: engine.submit(merge_two, left, right))
        self._take(engine.result(root, leaves, finished))

    def _take(self, whole: Merge) -> None:
        """Take what a round has made; after the last, the clock shows all that was learned."""
        before = self.content
        self._learned += float(whole.parts[0].sums[-1])
        last = self.done + 1 == self.plan.total
        content = whole.content(_without_margins(before), total=self._learned if last else None)
        if before.progressive_calibration:
            margins = joined_margins(before.progressive_calibration, content.progressive_calibration)
            content = with_fitted_calibration(replace(content, progressive_calibration=margins))
        self.content = content

    def _go_on(self, run: dict[str, Any]) -> None:
        known = run.get(_RUN)
        if known != self._identity:
            raise InputError(
                "the checkpoint is not of a run with these files, parts, rounds and passes "
                f"({_describe(known)}): repeat the command that it is of"
            )
        self.done, self._learned = int(run["done"]), float(run["learned"])
        self.content = replace(self.content, run=None)


def plan_of(
    content: ModelFile | None, paths: list[str], parts: int | None, rounds: int | None, passes: int
) -> Plan:
    """The plan of a run that begins, or goes on from a checkpoint: there, what is not given is as it was."""
    known = None if content is None or content.run is None else content.run.get(_RUN)
    if known is not None and known["paths"] == paths:  # the defaults may have been others
        parts, rounds = parts or known["parts"], rounds or known["rounds"]
    return Plan.of(paths, parts, rounds, passes)


def learn_alone(start: bytes, loss: Loss, number: int, run: RunOptions, paths: list[str]) -> bytes:
    """Go on from a model with these files, on a worker, in the pass of this number."""
    return model_file.as_bytes(_learned(start, loss, number, run, paths))


def learn_part(start: bytes, loss: Loss, number: int, run: RunOptions, by: str, paths: list[str]) -> Merge:
    """Learn as `learn_alone` does, to be merged with others that went on from there."""
    return Merge.of(_learned(start, loss, number, run, paths), _loaded(start, loss), by)


def merge_two(left: Merge, right: Merge) -> Merge:
    """Merge two parts, on a worker. Clusters show tasks by the names of their functions."""
    return left.merged(right)


def _learned(start: bytes, loss: Loss, number: int, run: RunOptions, paths: list[str]) -> ModelFile:
    training = resume(_loaded(start, loss), "the model", paths, replace(run, passes=number + 1))
    training.loop.position = number, 0
    training.run()
    return training.content()


def _loaded(stored: bytes, loss: Loss) -> ModelFile:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(stored)
        return model_file.load(path, loss)


def _without_margins(content: ModelFile) -> ModelFile:
    """The content without margins: those of earlier rounds would be counted once for every part."""
    empty = {name: np.zeros_like(array) for name, array in content.progressive_calibration.items()}
    return replace(content, progressive_calibration=empty)


def _describe(known: dict[str, Any] | None) -> str:
    if known is None:
        return "it is of none on a cluster"
    counts = [counted(len(known["paths"]), "file"), *(counted(known[f"{n}s"], n) for n in ("part", "round"))]
    passes = known["passes"]
    return f"it is of {', '.join(counts)} and {passes} pass{'' if passes == 1 else 'es'}, by {known['by']}"


def _check(run: RunOptions) -> None:
    given: dict[str | Parameter, bool] = {
        bare("holdout"): run.holdout is not None,
        bare("early_stopping"): run.early_stopping,
        bare("shuffle"): run.shuffle is not None,
        "calibrate on rows held out": run.calibrate,
    }
    if any(given.values()):
        listed = joined(", ", [name for name, value in given.items() if value])
        raise InputError("a cluster learns every row of its files in their order: leave out ", listed)
