"""The inputs of a sweep: rows in memory, files, or rows as they come. Classes are numbered from 0."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier

from steelyard import weight_summary
from steelyard.engine.holdout import Holdout, marker
from steelyard.engine.many_models import ManyModels
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.engine.passes import PassLoop
from steelyard.engine.row_sources import RowsInMemory
from steelyard.engine.selection import Selection
from steelyard.estimators import fit_passes, inputs
from steelyard.estimators.fitted import FittedState, count_classes, set_state
from steelyard.estimators.online import OnlineEstimator, rows_to_learn
from steelyard.estimators.parameters import settings_of
from steelyard.examples import Examples
from steelyard.losses import Loss, class_labels
from steelyard.sweep import plan
from steelyard.sweep.checked_rows import check_numbers
from steelyard.sweep.grid import Expanded, Point
from steelyard.sweep.results import Results
from steelyard.sweep.search import Search, SearchProgress
from steelyard.weight_summary import WeightSummary


@dataclass(frozen=True)
class PreparedRows:
    """Rows, the number of classes (0 for numbers), and the rows that are not held out."""

    examples: Examples
    classes: int
    learned: NDArray[np.bool_]


def prepare(
    template: OnlineEstimator,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    *,
    holdout: Holdout = None,
    anew: bool = True,
) -> PreparedRows:
    """Check and weight rows as the estimator itself would; `template` gets their classes and features."""
    (settings, *_) = settings_of(template, None)
    chunk, learned = rows_to_learn(
        template, X, y, sample_weight, settings, lambda rows: ~marker(holdout)(len(rows)), anew=anew
    )
    if anew and not chunk.sample_weight.any():
        raise ValueError("all sample weights are zero (class weights included): there is nothing to learn")
    classes = count_classes(template)
    if classes == 2:
        second = chunk.labels == class_labels(settings.loss)[1]
        chunk = replace(chunk, labels=second.astype(np.float64))
    return PreparedRows(chunk, classes, learned)


def draw_orders(
    template: OnlineEstimator, prepared: PreparedRows, passes: int
) -> list[NDArray[np.int64]] | None:
    """Draw the order of the rows in each pass, as the estimator's `fit` does."""
    order_of = fit_passes.order_of_passes(template, prepared.examples, prepared.learned)
    return None if order_of is None else [order_of(number) for number in range(passes)]


def identify(examples: Examples, orders: list[NDArray[np.int64]] | None) -> dict[str, Any]:
    """Return what a saved state must agree with: the rows and their order."""
    columns = (examples.indptr, examples.indices, examples.values, examples.labels, examples.sample_weight)
    return {
        "rows": [_checksum(each) for each in columns],
        "order": [_checksum(each) for each in orders or ()],
    }


def _checksum(column: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(column).data)


def open_files(
    sweep: Any,
    template: OnlineEstimator,
    paths: Sequence[str | Path],
    losses: Sequence[Loss],
    read_options: dict[str, Any],
    threads: int,
    *,
    holdout: Holdout,
    refit: bool,
) -> Any:
    """Return the files of a sweep over these losses (a `sweep.files.SweepFiles`)."""
    from steelyard.engine.file_labels import CLASSES, NUMBERS  # not at the top: rows do without readers
    from steelyard.estimators import file_fitting
    from steelyard.io import sources
    from steelyard.sweep import files

    file_fitting.check_parameters(template)
    found = sources.expand(paths)
    if refit and any(map(sources.once_only, found)):
        raise ValueError(
            "the best is trained again on all rows, and standard input and pipes can be read only once: "
            "save the rows to a file, or leave that out with refit=False"
        )
    read = file_fitting.reading(read_options, sweep, template)
    return files.open_files(
        found,
        read.infer(found, np.dtype(template.dtype).name),
        losses,
        named=read.label_names,
        task=CLASSES if is_classifier(template) else NUMBERS,
        class_weight=getattr(template, "class_weight", None),
        holdout=holdout,
        threads=threads,
        weight_scale=template.weight_scale,
    )


def refit_files(estimator: Any, files: Any) -> OnlineEstimator:
    """Fit the estimator to all rows of the files, as `fit_files` would."""
    from steelyard.estimators import file_fitting

    training = files.train(
        settings_of(estimator, None),
        passes=fit_passes.in_files(estimator),
        calibrate=getattr(estimator, "calibrate", False),
    )
    training.run()
    file_fitting.take_over(estimator, training)
    fitted: OnlineEstimator = estimator
    return fitted


@dataclass
class StreamSweep:
    """A sweep that learns rows as they come. `template` has features and classes; the first rows make the models."""

    template: OnlineEstimator
    points: list[Point]
    notes: list[str]
    engine: ManyModels | None = None
    summary: WeightSummary = field(default_factory=lambda: weight_summary.NOTHING)

    def learn(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, threads: int | None, memory: int
    ) -> None:
        anew = self.engine is None
        examples = prepare(self.template, X, y, sample_weight, anew=anew).examples
        order, classes = np.arange(len(examples)), count_classes(self.template)
        if not classes:
            check_numbers(examples, order, {point.settings.loss for point in self.points})
        if self.engine is None:
            settings = [point.settings for point in self.points]
            rounds = plan.plan(settings, examples.features, classes, memory)
            if len(rounds.rounds) > 1:
                raise ValueError(
                    f"partial_fit needs all models in memory at once, and has {rounds.describe()}: "
                    "allow more memory, or have a smaller grid"
                )
            if classes > 2:
                self.engine = OneVsRest(settings, classes, examples.features, threads=threads)
            else:
                self.engine = Selection(settings, examples.features, coded=classes == 2, threads=threads)
        PassLoop(self.engine, RowsInMemory(examples, piece=None)).run()
        self.summary = self.summary.followed_by(examples.sample_weight)

    def empty_results(self, select: str | None) -> Results:
        """Return results without figures."""
        return Results.empty(self.points, classes=count_classes(self.template), held_out=False, select=select)

    def results(self, select: str | None) -> Results:
        assert self.engine is not None
        results = self.empty_results(select)
        figures = {"diverged": self.engine.diverged, "progressive_loss": self.engine.progressive_loss}
        if is_classifier(self.template):
            figures["progressive_error"] = self.engine.progressive_error
        results.fill(list(range(len(self.points))), figures)
        return results

    def estimator(self, number: int) -> OnlineEstimator:
        """Return one of the models as it is now, as an estimator that can learn on alone."""
        assert self.engine is not None
        made: OnlineEstimator = clone(self.template).set_params(**self.points[number].params)
        set_state(made, FittedState(self.engine.separate(number)))
        made.weight_summary_ = self.summary
        made.n_iter_ = 1
        for name in ("n_features_in_", "feature_names_in_", "classes_", "weight_factor_"):
            if hasattr(self.template, name):
                setattr(made, name, getattr(self.template, name))
        return made


def begin(template: OnlineEstimator, expanded: Expanded, classes: ArrayLike | None) -> StreamSweep:
    """Begin with the first call, which names the classes if there are any."""
    if template.weight_scale == "mean_one" or getattr(template, "class_weight", None) == "balanced":
        raise ValueError(
            "weight_scale='mean_one' and class_weight='balanced' need all the rows, and partial_fit sees "
            "some of them: give the weights as sample_weight"
        )
    if is_classifier(template):
        if classes is None:
            raise ValueError(
                "the first call of partial_fit must name all classes: partial_fit(X, y, classes=[…, …])"
            )
        template.classes_ = inputs.check_classes(classes)
    return StreamSweep(template, expanded.points, expanded.notes)


@contextmanager
def watching(search: Search, verbose: int) -> Iterator[Callable[[SearchProgress], None] | None]:
    """Show the plan and a bar on standard error, if `verbose`."""
    if not verbose:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    console.print(search.plan.describe(), highlight=False)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("learning", total=1.0)
        yield lambda progress: bar.update(task, completed=progress.share)
