"""The steps: labels chosen within a budget, and as many random ones, for the product's own active learner."""

from functools import partial

import numpy as np

from paper import data
from paper.studies.active import trials
from paper.studies.active.trials import TrialStream, short
from paper.study import Row, Scope, Step
from steelyard import ActiveClassifier

TABLE = "budget"
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
"""The budgets, as shares of the rows."""


def steps(scope: Scope) -> list[Step]:
    return [
        Step(TABLE, f"{data.name(place)} {stream.shuffle}", stream.inputs, partial(budget_rows, stream))
        for place in data.PLACES
        for stream in trials.streams(place, scope)
    ]


def budget_rows(stream: TrialStream) -> list[Row]:
    """The result of a user without prior knowledge, and of random labels with the same learner."""
    shown, tested = stream.load()
    count = len(shown.labels)
    found: list[Row] = []
    for share in SHARES:
        budget = round(share * count)
        asking = ActiveClassifier(classes=[-1, 1], budget=budget, random_state=stream.shuffle)
        asking.replay(*shown)
        random = ActiveClassifier(classes=[-1, 1], rate=1.0, random_state=stream.shuffle)
        questions = random.ask(shown.matrix[:budget])  # all of them: the rows come shuffled
        random.answer([question.id for question in questions], shown.labels[:budget])
        for way, classifier in (("budget", asking), ("random", random)):
            wrong = classifier.predict(tested.matrix) != tested.labels
            found.append(
                {
                    **stream.columns,
                    "way": way,
                    "budget": budget,
                    "fraction": short(classifier.n_answered_ / count),
                    "error": short(np.mean(wrong)),
                }
            )
    return found
