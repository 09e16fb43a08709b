"""Attempts at certificates for tests."""

from pathlib import Path
from typing import Any

from steelyard import ActiveClassifier
from steelyard.active.attempt import Attempt
from tests.estimators.asking import classifier, data


def asked(journal: Path | None = None, count: int = 40, **given: Any) -> tuple[ActiveClassifier, Any, Any]:
    X, y = data(400)
    active = classifier(rate=None, budget=count, journal=journal, **given).pool(X)
    while (question := active.ask_next()) is not None:
        active.answer(question.id, y[question.row])
    return active, X, y


def some(attempt: Attempt, y: Any, count: int) -> None:
    for _ in range(count):
        row = attempt.ask_next()
        assert row is not None
        attempt.answer(row, y[row])
