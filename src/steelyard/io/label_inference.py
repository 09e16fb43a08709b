"""Guesses about labels, from the first of them. They are told to the user, and options overrule them."""

from collections.abc import Sequence

from steelyard import losses
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule, is_number, plain
from steelyard.io.problems import POINTS, decimal_comma
from steelyard.losses import Loss, OneOf

TWO_CLASSES, ANY_NUMBER = "modified_huber", "squared"
_PAIRS = ({"0", "1"}, {"-1", "1"}, {"1", "2"})
_LONGEST = 20  # of a label in a message
MORE_CLASSES = (
    "the command line tells two classes apart, and --labels NO,YES says which (--on-error skip leaves out "
    "rows with any other), or --labels '*,NAME' one from the rest; "
    "all at once: OnlineClassifier().fit(X, y), in Python"
)


def loss_for(labels: Sequence[str]) -> str:
    """The loss for a file that begins with these labels: classes or numbers?"""
    distinct = {_plain(label) for label in labels}
    numeric = all(is_number(label) for label in distinct)
    return ANY_NUMBER if numeric and not _classes(distinct) else TWO_CLASSES


def rule_for(labels: Sequence[str], loss: Loss, path: str) -> LabelRule | None:
    """Which label is negative and which positive; None where the loss takes them as they are."""
    if not isinstance(loss.labels, OneOf):
        return None
    low, high = sorted(loss.labels.values)
    distinct = {_plain(label) for label in labels}
    if all(is_number(label) and loss.allows(float(label)) for label in distinct):
        return None
    if not _classes(distinct):
        if sum(map(decimal_comma, distinct)) > len(distinct) / 2:
            raise InputError(f"{path}: the label {min(distinct)!r} is not a number: {POINTS}")
        raise InputError(
            f"{path}: {losses.name_of(loss) or type(loss).__name__} loss is for two classes, and "
            f"{_found(distinct)}: {MORE_CLASSES}"
        )
    names = next((pair for pair in _PAIRS if distinct <= pair), distinct)
    negative, positive = sorted(names, key=lambda name: (float(name) if is_number(name) else 0.0, name))
    spelt = {_plain(label): label for label in sorted(labels, reverse=True)}
    return LabelRule(spelt.get(negative, negative), spelt.get(positive, positive), low, high)


def _classes(distinct: set[str]) -> bool:
    """Two values, or one of a usual pair."""
    return len(distinct) == 2 or any(distinct <= pair for pair in _PAIRS)


def _found(distinct: set[str]) -> str:
    """Of labels that are not two: how many, and which."""
    some = ", ".join(_short(label) for label in sorted(distinct)[:5])
    if len(distinct) == 1:
        return (
            f"all the first rows have the same label ({some}), so the others are not known yet: if the rows "
            "are sorted by label, shuffle them first, for they are learned in their order. There may be "
            "two classes or more"
        )
    return f"there are {len(distinct)} labels among the first rows ({some}…)"


def _short(label: str) -> str:
    shown = label[:_LONGEST] + "…" * (len(label) > _LONGEST)
    return shown if shown.isprintable() else repr(shown)


def _plain(label: str) -> str:
    """1.0 and +1 are 1."""
    return plain(float(label)) if is_number(label) else label
