"""Fixtures that the tests of commands share."""

from tests.cli.running import file, model

__all__ = ["file", "model"]
