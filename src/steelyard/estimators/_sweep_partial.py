"""A sweep that learns rows as they come: all models in memory, and estimators made of single lanes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier

from steelyard import weight_summary
from steelyard.engine.models import Models, models
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.engine.selection import Selection
from steelyard.engine.solo import Solo
from steelyard.estimators import classes as class_names
from steelyard.estimators import sweep_rows
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
    models: Models | None = None
    summary: WeightSummary = field(default_factory=lambda: weight_summary.NOTHING)

    def learn(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, threads: int | None, memory: int
    ) -> None:
        anew = self.models is None
        examples = sweep_rows.prepared(self.template, X, y, sample_weight, anew=anew).examples
        order, classes = np.arange(len(examples)), self.template._count_classes()
        if not classes:
            check_numbers(examples, order, {point.settings.loss for point in self.points})
        if self.models is None:
            settings = [point.settings for point in self.points]
            rounds = plan.plan(settings, examples.features, classes, memory)
            if len(rounds.rounds) > 1:
                raise ValueError(
                    f"partial_fit needs all models in memory at once, and has {rounds.describe()}: "
                    "allow more memory, or have a smaller grid"
                )
            self.models = models(settings, classes, examples.features, threads)
        self.models.learn(examples, order)
        self.summary = self.summary.followed_by(weight_summary.summarise(examples.sample_weight))

    def nothing(self, select: str | None) -> Results:
        """The results before there are any."""
        return Results.empty(
            self.points, classes=self.template._count_classes(), held_out=False, select=select
        )

    def results(self, select: str | None) -> Results:
        assert self.models is not None
        results = self.nothing(select)
        found = {"diverged": self.models.diverged, "progressive_loss": self.models.progressive_loss}
        if is_classifier(self.template):
            found["progressive_error"] = self.models.progressive_error
        results.fill(list(range(len(self.points))), found)
        return results

    def estimator(self, number: int) -> OnlineEstimator:
        """One of the models as it is now, as an estimator that can go on alone."""
        assert self.models is not None
        made: OnlineEstimator = clone(self.template).set_params(**self.points[number].params)
        made._engine = self._engine(number)
        made.weight_summary_ = self.summary
        made.n_iter_ = 1
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.template, name):
                setattr(made, name, getattr(self.template, name))
        return made

    def _engine(self, number: int) -> Solo | Selection:
        assert self.models is not None
        if not isinstance(self.models, OneVsRest):
            model = self.models.model(number)
            return Solo(model, float(self.models.progressive_error[number]) * model.weight)
        classes = self.models.classes
        alone = Selection([self.points[number].settings], classes, self.models.fleet.features)
        for place, model in enumerate(self.models.models(number)):
            alone.fleet.put(place, model)
        alone.error = self.models.error[[number]]
        return alone


def begun(template: OnlineEstimator, expanded: Expanded, classes: ArrayLike | None) -> Ongoing:
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
        template.classes_ = class_names.named(classes)
    return Ongoing(template, expanded.points, expanded.notes)
