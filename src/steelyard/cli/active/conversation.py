"""The replies of `steelyard active ask` to each line."""

import json
import math
from dataclasses import asdict
from typing import Any, Self

from steelyard.active import strategies
from steelyard.active.budget import BudgetPlan
from steelyard.active.estimates import LEVEL
from steelyard.active.evaluation import Evaluation
from steelyard.active.journal import IN_MEMORY, Journal
from steelyard.active.labelled import DEFAULT_SETTINGS, RefitPlan
from steelyard.active.learner import ActiveLearner
from steelyard.io import jsonl_reader
from steelyard.io.errors import InputError
from steelyard.losses import class_labels, decision_point

_KINDS = "an example, a label, a skip, an undo, a status or an estimate"


class Conversation:
    """An active learner that is driven by lines of JSON."""

    def __init__(self, given: dict[str, Any]) -> None:
        names = given["classes"].split(",")
        if len(names) != 2 or len(set(names)) != 2 or not all(names):
            raise InputError(f"--classes {given['classes']}: two different names, as in ham,spam")
        plan = BudgetPlan(
            given["c0"], given["rate"], given["budget"], given["expected"], audit=given["audit"]
        )
        self._bits = given["bits"]
        self._names = names
        self._codes = dict(zip(names, class_labels(DEFAULT_SETTINGS.loss), strict=True))
        self._boundary = decision_point(DEFAULT_SETTINGS.loss)
        self._journal = Journal(given["journal"] or IN_MEMORY)
        try:
            self._learner = ActiveLearner(
                DEFAULT_SETTINGS,
                1 << self._bits,
                plan,
                RefitPlan(seed=given["seed"]),
                self._journal,
                {"classes": names},
                strategies.by_name(given["strategy"]),
            )
        except BaseException:
            self._journal.close()
            raise
        self._evaluation = Evaluation(self._learner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def reply(self, line: str) -> dict[str, Any]:
        """The reply to one line; an invalid line gets an error and changes nothing."""
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise InputError(f"a line is an object: {_KINDS}")
            return self._answer(message)
        except (ValueError, RecursionError) as error:
            return {"error": str(error)}

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if "example" in message:
            return self._example(message["example"])
        if message.get("undo") is True:
            return {"id": self._learner.undo(), "undone": True}
        if message.get("status") is True:
            return self.status()
        if "estimate" in message:
            return self._estimate(message)
        if "label" in message:
            code = self._codes.get(str(message["label"]))
            if code is None:
                raise InputError(f"the label {message['label']!r} is neither {' nor '.join(self._names)}")
            self._learner.answer([_id(message)], [code])
            return {"id": message["id"], "answered": True}
        if message.get("skip") is True:
            self._learner.skip([_id(message)])
            return {"id": message["id"], "skipped": True}
        raise InputError(f"this is none of {_KINDS}")

    def _example(self, example: Any) -> dict[str, Any]:
        asked = self._learner.consider(jsonl_reader.hash_object(example, self._bits))
        decided = self._learner.decided
        assert decided is not None
        prediction = float(decided.predictions[0])
        return {
            "id": decided.first,
            "ask": len(asked) > 0,
            "probability": float(decided.probabilities[0]),
            "prediction": prediction,
            "class": self._names[int(prediction > self._boundary)],
        }

    def _estimate(self, message: dict[str, Any]) -> dict[str, Any]:
        for name in ("level", "largest"):
            if name in message and (
                isinstance(message[name], bool) or not isinstance(message[name], int | float)
            ):
                raise InputError(f"{name!r} is {message[name]!r}: it must be a number")
        found = self._evaluation.estimate(
            str(message["estimate"]),
            str(message.get("of", "current")),
            message.get("level", LEVEL),
            message.get("largest"),
        )
        figures = asdict(found)
        reply = {"estimate": figures.pop("measure")} | figures | {"answered": found.answered}
        return reply | {"value": None if math.isnan(found.value) else found.value}

    def status(self) -> dict[str, Any]:
        learner = self._learner
        return {
            "seen": learner.seen,
            "asked": learner.asked,
            "answered": learner.answered,
            "skipped": learner.skipped,
            "open": learner.open,
            "spent": learner.spent,
        }


def _id(message: dict[str, Any]) -> int:
    number = message.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise InputError(f"the id of the question is missing or is no whole number: {number!r}")
    return number
