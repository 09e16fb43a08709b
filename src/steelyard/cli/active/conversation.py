"""The other side of `steelyard active ask`: what is said to each line."""

import json
import math
from dataclasses import asdict
from typing import Any, Self

from steelyard.active.budget import Plan
from steelyard.active.engine import Engine
from steelyard.active.estimates import LEVEL
from steelyard.active.evaluation import Appraisal
from steelyard.active.journal import IN_MEMORY, Journal
from steelyard.active.labelled import USUAL, Training
from steelyard.io import jsonl
from steelyard.io.errors import InputError
from steelyard.losses import class_labels, decision_point

_KINDS = "an example, a label, a skip, an undo, a status or an estimate"


class Conversation:
    """An engine that is spoken to in lines of JSON."""

    def __init__(self, given: dict[str, Any]) -> None:
        names = given["classes"].split(",")
        if len(names) != 2 or len(set(names)) != 2 or not all(names):
            raise InputError(f"--classes {given['classes']}: two different names, as in ham,spam")
        plan = Plan(given["c0"], given["rate"], given["budget"], given["expected"], audit=given["audit"])
        self._bits = given["bits"]
        self._names = names
        self._codes = dict(zip(names, class_labels(USUAL.loss), strict=True))
        self._boundary = decision_point(USUAL.loss)
        self._journal = Journal(given["journal"] or IN_MEMORY)
        try:
            self._engine = Engine(
                USUAL,
                1 << self._bits,
                plan,
                Training(seed=given["seed"]),
                self._journal,
                {"classes": names},
            )
        except BaseException:
            self._journal.close()
            raise
        self._appraisal = Appraisal(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def reply(self, line: str) -> dict[str, Any]:
        """To one line; what is wrong with it is said, and nothing done."""
        try:
            said = json.loads(line)
            if not isinstance(said, dict):
                raise InputError(f"a line is an object: {_KINDS}")
            return self._answer(said)
        except (ValueError, RecursionError) as error:
            return {"error": str(error)}

    def _answer(self, said: dict[str, Any]) -> dict[str, Any]:
        if "example" in said:
            return self._example(said["example"])
        if said.get("undo") is True:
            return {"id": self._engine.undo(), "undone": True}
        if said.get("status") is True:
            return self.status()
        if "estimate" in said:
            return self._estimate(said)
        if "label" in said:
            code = self._codes.get(str(said["label"]))
            if code is None:
                raise InputError(f"the label {said['label']!r} is neither {' nor '.join(self._names)}")
            self._engine.answer([_id(said)], [code])
            return {"id": said["id"], "answered": True}
        if said.get("skip") is True:
            self._engine.skip([_id(said)])
            return {"id": said["id"], "skipped": True}
        raise InputError(f"this is none of {_KINDS}")

    def _example(self, found: Any) -> dict[str, Any]:
        asked = self._engine.consider(jsonl.hash_object(found, self._bits))
        decided = self._engine.decided
        assert decided is not None
        prediction = float(decided.predictions[0])
        return {
            "id": decided.first,
            "ask": len(asked) > 0,
            "probability": float(decided.probabilities[0]),
            "prediction": prediction,
            "class": self._names[int(prediction > self._boundary)],
        }

    def _estimate(self, said: dict[str, Any]) -> dict[str, Any]:
        for name in ("level", "largest"):
            if name in said and (isinstance(said[name], bool) or not isinstance(said[name], int | float)):
                raise InputError(f"{name!r} is {said[name]!r}: it must be a number")
        found = self._appraisal.estimate(
            str(said["estimate"]),
            str(said.get("of", "current")),
            said.get("level", LEVEL),
            said.get("largest"),
        )
        figures = asdict(found)
        reply = {"estimate": figures.pop("measure")} | figures | {"answered": found.answered}
        return reply | {"value": None if math.isnan(found.value) else found.value}

    def status(self) -> dict[str, Any]:
        engine = self._engine
        return {
            "seen": engine.seen,
            "asked": engine.asked,
            "answered": engine.answered,
            "skipped": engine.skipped,
            "open": engine.open,
            "spent": engine.spent,
        }


def _id(said: dict[str, Any]) -> int:
    number = said.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise InputError(f"which question? Its id is missing, or is no whole number: {number!r}")
    return number
