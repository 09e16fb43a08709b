"""Classes or numbers, inferred from the labels. What is inferred is announced, and options override it."""

from collections.abc import Iterable, Sequence

from steelyard.io.errors import POINTS, InputError, has_decimal_comma
from steelyard.io.labels import LabelRule, classes, is_number, plain, shorten, two_classes
from steelyard.losses import Loss, OneOf

TWO_CLASSES, ANY_NUMBER = "modified_huber", "squared"
_PAIRS = ({"0", "1"}, {"-1", "1"}, {"1", "2"})
MOST_CLASSES = 1000


def loss_for(labels: Sequence[str]) -> str:
    """The loss for a file that begins with these labels: classes or numbers?"""
    distinct = {_plain(label) for label in labels}
    numeric = all(is_number(label) for label in distinct)
    return ANY_NUMBER if numeric and not are_two_classes(distinct) else TWO_CLASSES


def rule_for(labels: Sequence[str], loss: Loss, path: str) -> LabelRule | None:
    """Which labels are the classes; None where the loss takes them as they are."""
    if not isinstance(loss.labels, OneOf):
        return None
    low, high = sorted(loss.labels.values)
    distinct = {_plain(label) for label in labels}
    if all(is_number(label) and loss.allows(float(label)) for label in distinct):
        return None
    if not are_two_classes(distinct):
        _check_classes(distinct, path)
    names = next((pair for pair in _PAIRS if distinct <= pair), distinct)
    spelt = {_plain(label): label for label in sorted(labels, reverse=True)}
    ordered = sorted(names, key=lambda name: (float(name) if is_number(name) else 0.0, name))
    written = [spelt.get(name, name) for name in ordered]
    return two_classes(written[0], written[1], low, high) if len(written) == 2 else classes(written)


def are_two_classes(labels: Iterable[str]) -> bool:
    """Whether there are two values, or one of a usual pair."""
    distinct = {_plain(label) for label in labels}
    return len(distinct) == 2 or any(distinct <= pair for pair in _PAIRS)


def _check_classes(distinct: set[str], path: str) -> None:
    """Refuse labels that are no classes: numbers with a comma, one class alone, or far too many."""
    if sum(map(has_decimal_comma, distinct)) > len(distinct) / 2:
        raise InputError(f"{path}: the label {min(distinct)!r} is not a number: {POINTS}")
    if len(distinct) == 1:
        raise InputError(
            f"{path}: all the first rows have the same label ({shorten(*distinct)}), so the other classes "
            "are not known: --labels a,b,c names them all. If the rows are sorted by label, shuffle them "
            "first, because they are learned in order"
        )
    if len(distinct) > MOST_CLASSES:
        raise too_many(path, MOST_CLASSES, distinct)


def too_many(path: str, limit: int, labels: Iterable[str], column: str | None = None) -> InputError:
    """The error for labels of which there are too many to be classes."""
    some = ", ".join(shorten(label) for label in sorted(labels)[:5])
    where = "" if column is None else f" in the column {column!r}"
    return InputError(
        f"{path}: there are more than {limit:,} different labels{where} ({some}, …), too many for classes; "
        "is it the label column (--label names it)? Are they numbers (--loss squared predicts numbers)? "
        "--labels '*,NAME' tells one class from the rest"
    )


def _plain(label: str) -> str:
    """1.0 and +1 are 1."""
    return plain(float(label)) if is_number(label) else label
