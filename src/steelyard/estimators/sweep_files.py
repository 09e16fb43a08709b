"""Files for a sweep of estimators, and the winner learned from them by the single kernel."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from steelyard import weight_summary
from steelyard.engine.solo import Solo
from steelyard.estimators.online import OnlineEstimator
from steelyard.estimators.parameters import settings_of
from steelyard.features.names import Names
from steelyard.io import inference, sources
from steelyard.io.input_spec import InputSpec
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.sweep.files import Files, in_terms_of, in_terms_of_all


def opened(
    template: OnlineEstimator,
    paths: Sequence[str | Path],
    losses: Sequence[Loss],
    reading: InputSpec | None,
    threads: int,
    *,
    refit: bool,
) -> tuple[Files, int]:
    """The files, and the number of their classes."""
    if template.shuffle:
        raise ValueError(
            "files are learned in their order: shuffle them beforehand, and leave out shuffle=True"
        )
    for name, usual in (("weight_scale", "as_given"), ("class_weight", None)):
        if getattr(template, name, usual) != usual:
            raise ValueError(f"{name}={getattr(template, name)!r} is not for files: give their rows weights")
    found = sources.expand(paths)
    if refit and any(map(sources.once_only, found)):
        raise ValueError(
            "the best is learned anew from all rows, and standard input and pipes can be read once only: "
            "save the rows to a file, or leave that out with refit=False"
        )
    reading = reading or InputSpec(inference.format_of(found))
    looked, labels = inference.look(found[0], reading)
    rule = looked.label_rule
    said = None if rule is None else f"{rule.negative},{rule.positive}"
    settled, classes = in_terms_of_all(looked, labels, losses, found[0], said)
    if is_classifier(template) != (classes > 0):
        kind = "two classes: use OnlineClassifier" if classes else "numbers: use OnlineRegressor"
        raise ValueError(f"{found[0]}: its labels are {kind}")
    return Files(found, settled, threads=threads), classes


def refitted(estimator: Any, files: Files) -> OnlineEstimator:
    """The estimator, learned from all rows of the files."""
    (settings,) = settings_of(estimator, None)
    reading = in_terms_of(files.reading, settings.loss)
    engine = Solo(Model(settings, reading.features))
    files.names = Names(reading.features)
    summary = weight_summary.NOTHING
    for done in range(estimator.passes):
        progress = engine.progress
        for parsed in files.open(reading, settings.loss):
            engine.learn(parsed.examples)
            if done == 0:
                summary = summary.followed_by(weight_summary.summarise(parsed.examples.sample_weight))
        if done > 0:  # the progressive loss is that of the first pass
            engine.progress = progress
    estimator._engine = engine
    estimator.weight_summary_ = summary
    estimator.n_iter_ = estimator.passes
    estimator.n_features_in_ = reading.features
    estimator.reading_ = reading
    estimator._names = files.names
    if is_classifier(estimator):
        estimator.classes_ = classes(reading)
    fitted: OnlineEstimator = estimator
    return fitted


def classes(reading: InputSpec) -> NDArray[Any]:
    """What the files call the two classes."""
    assert reading.label_rule is not None
    return np.array([reading.label_rule.negative, reading.label_rule.positive])
