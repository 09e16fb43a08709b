"""`LabelRule`: which labels of a file are the classes, and the number that each becomes.

Numbers that a loss takes need no rule. Classes called anything else do: `0,1` for a loss of −1 and 1,
`ham,spam`, `*,spam` where whatever is not spam is negative, or `sports,politics,science`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Message, Parameter, bare
from steelyard.io.errors import InputError

ANYTHING = "*"
_MOST_NAMED = 8  # classes, in a message
_LONGEST = 20  # of a label in a message
_ORDERED = (
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("negative", "positive"), ("neg", "pos"),
)  # fmt: skip
"""Pairs of which everybody means the second, which the alphabet has second, too."""


@dataclass(frozen=True)
class LabelRule:
    """The names of the classes as they stand in the file, and the number that each becomes.

    The first name may be `*`: any label that is none of the others. `spellings` are further ways to write
    a class, each with its name: yes for Yes. `closed`: it is that of a model, which learns no further class.
    `named`: the user gave the classes, and so their order.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    spellings: tuple[tuple[str, str], ...] = ()
    closed: bool = False
    named: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.names) < 2 or len(self.names) != len(self.values):
            raise ValueError(
                Message(bare("labels"), f" {','.join(self.names)!r}: give two or more, and a value for each")
            )
        if len(set(self.names)) < len(self.names) or ANYTHING in self.names[1:]:
            raise ValueError(
                Message(
                    bare("labels"), f" {','.join(self.names)}: give each class once, the negative one of two first "
                    "(for example 0,1); the first may be * for anything else",
                )
            )  # fmt: skip

    @property
    def negative(self) -> str:
        return self.names[self._place(0)]

    @property
    def positive(self) -> str:
        return self.names[self._place(1)]

    @property
    def low(self) -> float:
        return self.values[self._place(0)]

    @property
    def high(self) -> float:
        return self.values[self._place(1)]

    @property
    def ordered(self) -> bool:
        """Whether the order of two classes means something: it is not just that of the alphabet."""
        pair = tuple(name.casefold() for name in self.names)
        return self.named or self._shows_order or pair in _ORDERED

    @property
    def _shows_order(self) -> bool:
        """Numbers, a class against any other, and what only a user can have named so."""
        return list(self.names) != sorted(self.names, key=alphabetical) or any(
            name == ANYTHING or is_number(name) for name in self.names
        )

    @property
    def otherwise(self) -> float | None:
        """The value of labels that are none of the names; None if there may be no such labels."""
        return self.values[0] if self.names[0] == ANYTHING else None

    def value(self, name: str) -> float | None:
        """The value of a class by its name as written, apart from `*`; None if there is no such class."""
        return self._by_name.get(name)

    def numbers(self, labels: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Numeric labels as the loss takes them, and which of them are unknown. NaN, no label, stays."""
        known, values = self._by_number
        places = np.minimum(np.searchsorted(known, labels), max(len(known) - 1, 0))
        found = known[places] == labels if len(known) else np.zeros(len(labels), np.bool_)
        unlabelled = np.isnan(labels)
        other = np.nan if self.otherwise is None else self.otherwise
        numbers = np.where(found, values[places] if len(known) else np.nan, other)
        unknown = ~(found | unlabelled) if self.otherwise is None else np.zeros(len(labels), np.bool_)
        return np.where(unlabelled, np.nan, numbers), unknown

    def describe_unknown(self, label: str) -> Message:
        """What is wrong with a label that is no class."""
        classes = f"none of the {len(self.names)} classes {self._listed()}"
        if len(self.names) == 2:
            classes = f"neither {shorten(self.negative)} nor {shorten(self.positive)}"
        remedy = Message(Parameter("labels", "a,b,c"), " names all classes")
        if self.closed:
            remedy = Message(
                "a model keeps the classes it began with: train a new one on all files, with ",
                Parameter("labels", "a,b,c"), " for classes that come late",
            )  # fmt: skip
        return Message(f"the label {label!r} is {classes}; ", remedy)

    def as_json(self) -> dict[str, Any]:
        """Two classes have keys of their own, as in files from before there could be more."""
        spellings = {"spellings": dict(self.spellings)} if self.spellings else {}
        if len(self.names) == 2:
            two = {"negative": self.negative, "positive": self.positive, "low": self.low, "high": self.high}
            # earlier releases do not know the key, so it is there only where the names do not say it
            named = {"named": True} if self.named and not self._shows_order else {}
            return two | named | spellings
        return {"names": list(self.names), "values": list(self.values)} | spellings

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "LabelRule":
        stored = dict(stored)
        spellings = tuple(dict(stored.pop("spellings", {})).items())
        if "names" in stored:
            names, values = tuple(stored["names"]), tuple(stored["values"])
            if len(names) > 2 and sorted(values) != list(range(len(names))):
                raise ValueError(f"the codes of {len(names)} classes are {values}")
            return cls(names, values, spellings)
        named = bool(stored.pop("named", False))
        return replace(two_classes(**stored), spellings=spellings, named=named)

    @property
    def spelt(self) -> list[str]:
        """Every way to write a class, apart from `*`."""
        return list(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, float]:
        found = {name: value for name, value in zip(self.names, self.values, strict=True) if name != ANYTHING}
        return found | {other: found[name] for other, name in self.spellings}

    @cached_property
    def _by_number(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Names that are numbers, sorted, and their values. Of two names of one number the last counts."""
        numbers = {_number(name): value for name, value in self._by_name.items() if is_number(name)}
        known = sorted(numbers)
        return np.array(known, np.float64), np.array([numbers[number] for number in known], np.float64)

    def _listed(self) -> str:
        return ", ".join(map(shorten, self.names[:_MOST_NAMED])) + ", …" * (len(self.names) > _MOST_NAMED)

    def _place(self, which: int) -> int:
        if len(self.names) != 2:
            raise InputError(
                f"there are {len(self.names)} classes ({self._listed()}), and this is for two: ",
                Parameter("labels", "NO,YES"), " says which (", Parameter("on_error", "skip"), " leaves out rows "
                "of any other), ", Parameter("labels", "*,NAME"), " takes one against the rest",
            )  # fmt: skip
        return which


def two_classes(negative: str, positive: str, low: float = -1.0, high: float = 1.0) -> LabelRule:
    """The rule for two classes, in the labels of a loss."""
    return LabelRule((negative, positive), (low, high))


def classes(names: Sequence[str]) -> LabelRule:
    """The rule for several classes: their values are 0, 1, 2, …"""
    return LabelRule(tuple(names), tuple(map(float, range(len(names)))))


def rule(text: str, low: float, high: float) -> LabelRule:
    """Parse `negative,positive` or, for more than two classes, `a,b,c,…`."""
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2:
        raise ValueError(
            Message(
                bare("labels"), f" {text!r}: give two, as negative,positive (for example 0,1 or *,spam), or all of "
                "several",
            )
        )  # fmt: skip
    return two_classes(names[0], names[1], low, high) if len(names) == 2 else classes(names)


_INITIALS = {"y": "yes", "n": "no", "t": "true", "f": "false"}


def join_spellings(labels: Sequence[str], names: Sequence[str] = ()) -> dict[str, str]:
    """Labels that differ in letter case or blanks only, each with the one that stands for all of them.

    That one is of `names`, if they are given. Single letters may be classes of their own, as in handwriting:
    they are joined if two classes are left; y and n then also with yes and no.
    """
    folded = {label: " ".join(label.split()).casefold() for label in (*names, *labels)}
    words = set(folded.values())
    if len(words - {short for short in _INITIALS if _INITIALS[short] in words}) == 2:
        longer = {short: word for short, word in _INITIALS.items() if word in words}
        folded = {label: longer.get(word, word) for label, word in folded.items()}
    first: dict[str, str] = {}
    for label in (*names, *sorted(labels)):
        first.setdefault(folded[label], label)
    joined = {label: first[folded[label]] for label in labels}
    return {
        label: name
        for label, name in joined.items()
        if label != name and label not in names and (len(name.strip()) > 1 or len(first) == 2)
    }


def alphabetical(name: str) -> tuple[str, str]:
    """The order of classes: that of the alphabet, where no comes before Yes."""
    return name.casefold(), name


def plain(label: float) -> str:
    """A number as people write it, with all the digits it takes: 1, not 1.0."""
    return f"{label:g}" if float(f"{label:g}") == label else repr(label).removesuffix(".0")


def distinct_numbers(labels: NDArray[np.float64]) -> list[str]:
    """The different labels that are not NaN, as people write them, in order."""
    return [plain(label) for label in np.unique(labels[~np.isnan(labels)]).tolist()]


def is_number(name: str) -> bool:
    return not np.isnan(_number(name))


def shorten(label: str) -> str:
    """A label short and printable enough for a message."""
    shown = label[:_LONGEST] + "…" * (len(label) > _LONGEST)
    return shown if shown.isprintable() else repr(shown)


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return float("nan")
