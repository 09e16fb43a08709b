"""A sweep that learns rows as they come: all models in memory, and estimators made of single lanes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier

from steelyard import weight_summary
from steelyard.engine.many_models import ManyModels
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.engine.passes import PassLoop
from steelyard.engine.rows import RowsInMemory
from steelyard.engine.selection import Selection
from steelyard.estimators import _sweep_inputs
from steelyard.estimators import classes as class_names
from steelyard.estimators.online import OnlineEstimator
from steelyard.sweep import plan
from steelyard.sweep.grid import Expanded, Point
from steelyard.sweep.results import Results
from steelyard.sweep.search import check_numbers
from steelyard.weight_summary import WeightSummary


@dataclass
class Ongoing:
    """`template` knows the features and the classes; the models are made when the first rows come."""

    template: OnlineEstimator
    points: list[Point]
    notes: list[str]
    engine: ManyModels | None = None
    summary: WeightSummary = field(default_factory=lambda: weight_summary.NOTHING)

    def learn(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, threads: int | None, memory: int
    ) -> None:
        anew = self.engine is None
        examples = _sweep_inputs.prepare(self.template, X, y, sample_weight, anew=anew).examples
        order, classes = np.arange(len(examples)), self.template._count_classes()
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
        self.summary = self.summary.followed_by(weight_summary.summarise(examples.sample_weight))

    def empty_results(self, select: str | None) -> Results:
        """The results before there are any."""
        return Results.empty(
            self.points, classes=self.template._count_classes(), held_out=False, select=select
        )

    def results(self, select: str | None) -> Results:
        assert self.engine is not None
        results = self.empty_results(select)
        found = {"diverged": self.engine.diverged, "progressive_loss": self.engine.progressive_loss}
        if is_classifier(self.template):
            found["progressive_error"] = self.engine.progressive_error
        results.fill(list(range(len(self.points))), found)
        return results

    def estimator(self, number: int) -> OnlineEstimator:
        """One of the models as it is now, as an estimator that can go on alone."""
        assert self.engine is not None
        made: OnlineEstimator = clone(self.template).set_params(**self.points[number].params)
        made._engine = self.engine.separate(number)
        made.weight_summary_ = self.summary
        made.n_iter_ = 1
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.template, name):
                setattr(made, name, getattr(self.template, name))
        return made


def begin(template: OnlineEstimator, expanded: Expanded, classes: ArrayLike | None) -> Ongoing:
    """From the first call, which names the classes if there are any."""
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
        template.classes_ = class_names.check_named(classes)
    return Ongoing(template, expanded.points, expanded.notes)
