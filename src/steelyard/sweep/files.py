"""`SweepFiles`: files for a sweep over several losses, and for the winner, which has one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from steelyard.engine import file_labels, file_training
from steelyard.engine.class_weights import ClassWeight
from steelyard.engine.file_labels import Labels
from steelyard.engine.file_rows import FileRows
from steelyard.engine.file_training import FileTraining
from steelyard.engine.holdout import Holdout
from steelyard.engine.row_sources import Rows
from steelyard.engine.run_options import RunOptions
from steelyard.io.input_spec import InputSpec
from steelyard.losses import Loss, class_labels
from steelyard.model import Settings
from steelyard.sweep import plan


@dataclass
class SweepFiles:
    """`spec` reads labels in terms of all losses: numbers, or the numbers of classes from 0."""

    files: FileRows
    spec: InputSpec
    labels: Labels
    class_weight: ClassWeight = None

    @property
    def classes(self) -> int:
        return self.labels.classes

    def rows(self, holdout: Holdout, memory: int) -> Rows:
        """The rows, with so many bytes for the sweep as a whole."""
        kept = plan.for_rows(memory)
        return self.files.spread(holdout, kept) if self.spec.counted else self.files.rows(holdout, keep=kept)

    def identity(self) -> dict[str, Any]:
        return self.files.identity()

    def train(
        self,
        settings: Sequence[Settings],
        *,
        passes: int,
        names: bool = True,
        calibrate: bool = True,
    ) -> FileTraining:
        """A training of these settings on all rows, as `steelyard train` would have it."""
        labels = file_labels.in_terms_of(self.labels, settings[0].loss)
        spec = replace(self.spec, label_rule=labels.rule)
        run = RunOptions(
            passes,
            None,
            self.files.threads,
            self.files.skip,
            calibrate_progressively=calibrate,
            weight_scale=self.files.weight_scale,
        )
        return file_training.start(
            self.files.paths, spec, settings, labels, run, names, class_weight=self.class_weight
        )


def open_files(
    paths: Sequence[str],
    inferred: tuple[InputSpec, Sequence[str]],
    losses: Sequence[Loss],
    *,
    named: Sequence[str] | None = None,
    task: str | None = None,
    class_weight: ClassWeight = None,
    holdout: Holdout = None,
    threads: int = 1,
    skip: bool = False,
    weight_scale: str = "auto",
) -> SweepFiles:
    """`inferred`: how the files are read, and the labels of the first rows, by `ReadOptions.infer`.

    Where some loss is for classes, all learn classes.
    """
    spec, first = inferred
    labels = file_labels.infer_labels_for_losses(paths, spec, first, losses, named=named, task=task)
    if labels.classes:
        for loss in losses:
            class_labels(loss)  # raises if it has none
    spec = replace(spec, label_rule=labels.rule)
    files = FileRows(paths, spec, threads=threads, skip=skip, weight_scale=spec.weight_scale(weight_scale))
    files.class_factors = file_training.class_factors(class_weight, labels, files, holdout)
    return SweepFiles(files, spec, labels, class_weight)
