"""Fixtures that the tests of the page share."""

from tests.labelling.projects import patience, project, session

__all__ = ["patience", "project", "session"]
