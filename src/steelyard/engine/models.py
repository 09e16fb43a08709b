"""Models of many settings that learn one stream, for labels of every kind."""

from collections.abc import Sequence

from steelyard.engine.model_set import ModelSet
from steelyard.engine.one_vs_rest import OneVsRest
from steelyard.engine.two_classes import TwoClasses
from steelyard.model import Settings

Models = ModelSet | TwoClasses | OneVsRest


def models(settings: Sequence[Settings], classes: int, features: int, threads: int | None = None) -> Models:
    """For numbers, if there are no classes; else the labels are the numbers of classes, from 0."""
    if classes > 2:
        return OneVsRest(settings, classes, features, threads)
    return (TwoClasses if classes else ModelSet)(settings, features, threads)
