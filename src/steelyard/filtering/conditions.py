"""Conditions on scores, such as `p >= 0.9 and label == 'en'`, parsed here and never evaluated as Python.

A comparison has a score on its left and a number or a name on its right. Comparisons are joined by `and`,
`or`, `not` and parentheses. `p[de]` is the probability of one class of several.

>>> keep = parse("p >= 0.5 and not label == 'ham'", {"p": True, "label": False})
>>> keep({"p": np.array([0.4, 0.6, 0.9]), "label": np.array(["spam", "spam", "ham"], object)}.__getitem__)
array([False,  True, False])
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._messages import did_you_mean
from steelyard.io.errors import InputError

Mask = NDArray[np.bool_]
Lookup = Callable[[str], NDArray[Any]]
Condition = Callable[[Lookup], Mask]

_TOKEN = re.compile(
    r"\s*(?:(?P<word>[^\W\d]\w*(?:\[[^\]]*\])?)|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<quoted>'[^']*'|\"[^\"]*\")|(?P<sign>>=|<=|==|!=|=>|=<|<>|[<>=()]))"
)
_PROBABILITY = re.compile(r"(^|_)p(\[|$)")
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
    "==": operator.eq, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
_MEANT = {"=>": ">=", "=<": "<=", "<>": "!="}


def parse(
    text: str, scores: Mapping[str, bool], classes: Mapping[str, Sequence[str]] | None = None
) -> Condition:
    """The condition; `scores` are the names that may be compared, and whether each is a number.

    Of those that are names, `classes` has the ones that there are.
    """
    return _Parser(text, scores, classes or {}).parse()


class _Parser:
    """Parses by recursive descent: or, and, not, comparison."""

    def __init__(self, text: str, scores: Mapping[str, bool], classes: Mapping[str, Sequence[str]]) -> None:
        self._text, self._scores, self._classes = text, scores, classes
        self._tokens: list[tuple[str, str]] = []
        end = len(text.rstrip())
        at = 0
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(f"{text[at:].strip()!r} is not a score, number, name or sign")
            kind = found.lastgroup or ""
            self._tokens.append((kind, found[kind]))
            at = found.end()

    def parse(self) -> Condition:
        found = self._either()
        if self._tokens:
            raise self._error(f"after a whole condition there is still {self._tokens[0][1]!r}")
        return found

    def _either(self) -> Condition:
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        return (
            parts[0] if len(parts) == 1 else lambda get: np.logical_or.reduce([part(get) for part in parts])
        )

    def _all(self) -> Condition:
        parts = [self._single()]
        while self._take("and"):
            parts.append(self._single())
        return (
            parts[0] if len(parts) == 1 else lambda get: np.logical_and.reduce([part(get) for part in parts])
        )

    def _single(self) -> Condition:
        if self._take("not"):
            negated = self._single()
            return lambda get: ~negated(get)
        if self._take("("):
            inner = self._either()
            if not self._take(")"):
                raise self._error("a ( is not closed")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        kind, name = self._next("a score")
        if kind != "word":
            raise self._error(f"{name!r}: a comparison begins with a score, as in p >= 0.9")
        if name not in self._scores:
            raise self._error(
                f"there is no score {name!r}{did_you_mean(name, self._scores)}; there are "
                f"{', '.join(self._scores)}"
            )
        sign = self._next("a comparison")[1]
        if sign not in _COMPARE:
            hint = f"; did you mean {_MEANT[sign]!r}?" if sign in _MEANT else ""
            raise self._error(f"after {name} comes one of {' '.join(_COMPARE)}, not {sign!r}{hint}")
        compare = _COMPARE[sign]
        kind, given = self._next("a value")
        if self._scores[name]:
            if kind != "number":
                raise self._error(f"{name} is a number, but {given!r} is not")
            number = float(given)
            if _PROBABILITY.search(name) and not 0.0 <= number <= 1.0:
                raise self._error(f"{name} is a probability, from 0 to 1, and never {given}")
            return lambda get: np.asarray(compare(get(name), number), bool)
        if compare not in (operator.eq, operator.ne):
            raise self._error(f"{name} is a name, which is compared by == or !=")
        wanted = given[1:-1] if kind == "quoted" else given
        there = self._classes.get(name, [wanted])
        if wanted not in there:
            names = ", ".join(there)
            raise self._error(f"{name} is never {wanted!r}, but one of {names}{did_you_mean(wanted, there)}")
        return lambda get: np.asarray(compare(get(name), wanted), bool)

    def _take(self, wanted: str) -> bool:
        """Whether the next token is this one, which is then taken. (Quotes make a name of any word.)"""
        if not self._tokens or self._tokens[0] not in (("word", wanted), ("sign", wanted)):
            return False
        del self._tokens[0]
        return True

    def _next(self, expected: str) -> tuple[str, str]:
        if not self._tokens:
            raise self._error(f"it ends where {expected} should come")
        return self._tokens.pop(0)

    def _error(self, what: str) -> InputError:
        return InputError(f"the condition {self._text!r}: {what}")
