"""`steelyard active ask`: JSON lines in and out, so that any program can drive it."""

import json
import math
import re
import sys
from dataclasses import asdict
from typing import Any

import click

from steelyard.active import strategies
from steelyard.active.journal import IN_MEMORY, Journal
from steelyard.active.strategies._base import BudgetPlan
from steelyard.cli import options
from steelyard.cli.option_types import Choice
from steelyard.cli.wording import error_text
from steelyard.io.errors import InputError
from steelyard.losses import decision_point

_KINDS = "an example, a label, a skip, an undo, a status or an estimate"
_INTEGER = re.compile("0|-?[1-9][0-9]*")  # such names are numbers in replies, as they are in labels


@click.command()
@click.option(
    "--classes", required=True, metavar="LIST", help="The classes, two or more, as labels name them."
)
@click.option(
    "--positive", metavar="NAME", help="The class of precision and recall.  [default: the second of two]"
)
@click.option(
    "--strategy", type=Choice(strategies.names()), default=strategies.DEFAULT, show_default=True,
    help="How to choose the examples to ask for.",
)  # fmt: skip
@click.option(
    "--budget", type=click.IntRange(1), metavar="LABELS", help="How many labels to ask for; needs --expected."
)
@click.option("--expected", type=click.IntRange(1), metavar="EXAMPLES", help="How many examples will come.")
@click.option("--rate", type=float, help="The share of the examples to ask for, instead of a budget.")
@click.option("--c0", type=float, help="The constant C₀ of the paper, instead of both.")
@click.option(
    "--audit", type=float, default=0.0, show_default=True, metavar="SHARE",
    help="The share of the examples that are asked for at random and never learned, to evaluate the "
    "current model.",
)  # fmt: skip
@click.option(
    "--journal", type=options.FILE_PATH, metavar="FILE",
    help="Store everything in this file; if it exists, continue from it.",
)  # fmt: skip
@click.option(
    "--bits", type=click.IntRange(1, 30), default=18, show_default=True,
    help="The model has 2^bits coefficients.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
def command(**given: Any) -> None:
    """Ask for labels of a stream: JSON lines in, JSON lines out.

    Each line of JSON on standard input is answered by one on standard output:

    \b
    {"example": {"title": "…", "price": 3}}   {"id": 0, "ask": true, "probability": …, "prediction": …, …}
    {"id": 0, "label": "spam"}                {"id": 0, "answered": true}
    {"id": 0, "skip": true}                   {"id": 0, "skipped": true}
    {"undo": true}                            {"id": 0, "undone": true}
    {"status": true}                          {"seen": 1, "asked": 1, "answered": 0, …}
    {"estimate": "error", "of": "current"}    {"estimate": "error", "of": "current", "value": …, "low": …, …}

    Labels may come late and in any order. The first line on standard output is a status, which says how
    many examples the journal has seen. An invalid line is answered by {"error": …} and changes nothing.

    The strategy iwal asks for a label with a probability that grows with the model's uncertainty; margin
    asks for the least certain examples; relevance for those that are most probably of the --positive class;
    random for any. With more than two classes each has a model that tells it from the rest; relevance does
    not work then, and replies have the model's "confidence" in its "class" instead of a "prediction".

    An estimate is of the error, precision, recall (of --positive) or loss (with "largest": …); of the
    models so far (progressive), the present model (current) or the examples so far (pool). Its interval,
    from low to high, has the confidence "level", by default 0.95, and is valid at any stopping time. The
    strategy margin gives no estimates without --audit. See docs/estimates.md.
    """
    with options.errors():
        names = given["classes"].split(",")
        if len(names) < 2 or len(set(names)) < len(names) or not all(names):
            raise InputError(f"--classes {given['classes']}: two or more different names, as in ham,spam")
        if given["positive"] not in {None, *names}:
            raise InputError(f"--positive {given['positive']}: is neither {' nor '.join(names)}")
        plan = BudgetPlan(
            given["c0"], given["rate"], given["budget"], given["expected"], audit=given["audit"]
        )
        with Journal(given["journal"] or IN_MEMORY) as journal:
            conversation = Conversation(names, plan, journal, given)
            _say(conversation.status())
            for line in sys.stdin:
                if line.strip():
                    _say(conversation.reply(line))


def _say(reply: dict[str, Any]) -> None:
    click.echo(json.dumps(reply))
    sys.stdout.flush()


class Conversation:
    """An active learner that is driven by lines of JSON."""

    def __init__(self, names: list[str], plan: BudgetPlan, journal: Journal, given: dict[str, Any]) -> None:
        from steelyard.active.evaluation import Evaluation  # not at the top: help needs no kernels
        from steelyard.active.labelled_rows import DEFAULT_SETTINGS, RefitPlan
        from steelyard.active.learner import ActiveLearner

        self._bits, self._names = given["bits"], names
        numbers = all(_INTEGER.fullmatch(name) for name in names)
        self._shown = {name: int(name) if numbers else name for name in names}
        positive = given["positive"] or (names[1] if len(names) == 2 else None)
        self._boundary = decision_point(DEFAULT_SETTINGS.loss)
        strategy = strategies.by_name(given["strategy"]).toward(second=positive == names[1])
        self._learner = ActiveLearner(
            DEFAULT_SETTINGS, 1 << self._bits, plan, RefitPlan(seed=given["seed"]), journal,
            {"classes": names, "positive": positive}, strategy, len(names),
        )  # fmt: skip
        self._codes = dict(zip(names, self._learner.labelled.codes, strict=True))
        name, class_index = (
            (None, None) if positive is None else (self._shown[positive], names.index(positive))
        )
        self._evaluation = Evaluation(self._learner, positive=name, class_index=class_index)

    def reply(self, line: str) -> dict[str, Any]:
        """The reply to one line; an invalid line gets an error and changes nothing."""
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise InputError(f"a line is an object: {_KINDS}")
            return self._answer(message)
        except (ValueError, RecursionError) as error:
            return {"error": error_text(error)}

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
        from steelyard.io import jsonl_reader

        asked = self._learner.consider(jsonl_reader.hash_object(example, self._bits))
        decided = self._learner.decided
        assert decided is not None
        prediction = float(decided.predictions[0])
        if len(self._names) == 2:
            class_index, said = int(prediction > self._boundary), {"prediction": prediction}
        else:
            class_index = int(prediction)
            said = {"confidence": 1.0 - (prediction - class_index)}
        return {
            "id": decided.first,
            "ask": len(asked) > 0,
            "probability": float(decided.probabilities[0]),
            **said,
            "class": self._shown[self._names[class_index]],
        }

    def _estimate(self, message: dict[str, Any]) -> dict[str, Any]:
        numbers = {name: message[name] for name in ("level", "largest") if name in message}
        for name, number in numbers.items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise InputError(f"{name!r} is {number!r}: it must be a number")
        found = self._evaluation.estimate(
            str(message["estimate"]), str(message.get("of", "current")), **numbers
        )
        figures = asdict(found)
        reply = {"estimate": figures.pop("measure")} | figures | {"answered": found.answered}
        return reply | {"value": None if math.isnan(found.value) else found.value}

    def status(self) -> dict[str, Any]:
        names = ("seen", "asked", "answered", "skipped", "open", "spent")
        return {name: getattr(self._learner, name) for name in names}


def _id(message: dict[str, Any]) -> int:
    number = message.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise InputError(f"the id of the question is missing or is no whole number: {number!r}")
    return number
