"""Fixtures that the tests of the page share."""

from tests.labelling.projects import project, session

__all__ = ["project", "session"]
