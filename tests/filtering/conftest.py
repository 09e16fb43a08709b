"""Fixtures that the tests of filters share."""

from tests.filtering.corpus import corpus, models

__all__ = ["corpus", "models"]
