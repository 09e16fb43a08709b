"""Fixtures that the tests of scoring share."""

from tests.filtering.corpus import corpus, models

__all__ = ["corpus", "models"]
