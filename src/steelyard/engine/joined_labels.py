"""Advice on labels that join several ones, as in `corn,grain`: such rows have several topics.

A row has one class here, so each combination becomes a class. The advice says so, and how to learn one of the
labels against the rest.
"""

from collections import Counter
from collections.abc import Sequence

from steelyard._parameters import Message, Parameter
from steelyard.io.labels import ANYTHING, shorten

_SEPARATORS = ",;|"


class JoinedLabelsWarning(UserWarning):
    """Labels are several ones joined, as in `corn,grain`, and each combination was learned as a class.

    Examples
    --------
    If these are classes and nothing else:

    >>> import warnings, steelyard
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", steelyard.JoinedLabelsWarning)
    """


def advice(labels: Sequence[str], named: Sequence[str] | None) -> list[Message]:
    """Return advice on the labels of a file; `named` are the classes that the user has named, if any."""
    return [] if not labels else _about_named(labels, named) if named is not None else _about_all(labels)


def _about_all(labels: Sequence[str]) -> list[Message]:
    for separator in _SEPARATORS:
        joined = _joined(labels, separator)
        if joined:
            about = (
                f"{len(joined)} of the {len(labels)} classes are several labels joined by {separator!r}, "
                f"such as {shorten(joined[0])!r}, and each combination is learned as a class of its own; to "
                "learn one label against the rest, write a column that says which rows have it: "
            )
            return [Message(about, Parameter("label", "COLUMN"))]
    return []


def _about_named(labels: Sequence[str], named: Sequence[str]) -> list[Message]:
    """Advise where the class of all other labels takes rows that have a named label among several."""
    if ANYTHING not in named:
        return []  # then any other label is an error
    for name in named:
        for label in labels:
            if label not in named and any(name in _parts(label, each) for each in _SEPARATORS):
                about = (
                    f"the label {shorten(label)!r} has {name!r} among several, and is taken for {ANYTHING!r}"
                    f", not for {name!r}; if that is not meant, write a column that says which rows have "
                    f"{name!r}: "
                )
                return [Message(about, Parameter("label", "COLUMN"))]
    return []


def _joined(labels: Sequence[str], separator: str) -> list[str]:
    """Return labels whose parts also occur elsewhere: a name with a comma in it is not one of them."""
    known = Counter(part for label in labels for part in {*_parts(label, separator), label.strip()})
    return [
        label
        for label in labels
        if len(parts := _parts(label, separator)) > 1 and all(part and known[part] > 1 for part in parts)
    ]


def _parts(label: str, separator: str) -> list[str]:
    return [part.strip() for part in label.split(separator)] if separator in label else []
