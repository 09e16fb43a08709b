"""What files are, seen from their beginning before anything is learned: format, columns, labels.

Always the same number of bytes is looked at, so that what is inferred does not depend on block sizes.
Labels are classes or numbers; what is inferred is announced, and options override it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from steelyard._parameters import Parameter
from steelyard.io import columns as roles
from steelyard.io import formats, sources
from steelyard.io.errors import POINTS, InputError, has_decimal_comma
from steelyard.io.formats import TableOverrides
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import (
    LabelRule,
    alphabetical,
    classes,
    is_number,
    join_spellings,
    plain,
    shorten,
    two_classes,
)
from steelyard.losses import Loss, OneOf

TWO_CLASSES, ANY_NUMBER = "modified_huber", "squared"
MOST_CLASSES = 1000
_PAIRS = ({"0", "1"}, {"-1", "1"}, {"1", "2"})
_HEAD_BYTES = 1 << 20


def infer(
    paths: Sequence[str],
    overrides: TableOverrides | None = None,
    *,
    format_name: str | None = None,
    **options: Any,
) -> tuple[InputSpec, list[str]]:
    """How to read the files, and the different labels of the first rows. The first file is opened once.

    `options` are those of `InputSpec`; the format and the columns are inferred, unless given.
    """
    with formats.open_head(paths[0], options.get("encoding")) as head:
        spec = InputSpec(format_name or formats.identify_all(paths, head).name, **options)
        if not head.source.peek(_HEAD_BYTES).removeprefix(formats.MARK).strip():
            raise InputError(f"{head.source.path}: is empty")
        found = formats.by_name(spec.format)
        if not found.binary:
            head.check_text()
        spec = found.complete(spec, head, overrides or TableOverrides())
        return spec, found.head_labels(spec, head)


def distinct_labels(paths: Sequence[str], spec: InputSpec, limit: int) -> list[str]:
    """The different labels of whole files, as they are written, sorted: no rare class is missed.

    A pipe can be read only once: its labels are those of its first rows. More than `limit` labels raise
    an InputError. Of a table only the label column is read.
    """
    found: set[str] = set()
    kind = formats.by_name(spec.format)
    for path in paths:
        if sources.once_only(path):
            with formats.open_head(path, spec.encoding) as head:
                found.update(kind.head_labels(spec, head))
            continue
        for labels in kind.label_sets(spec, path):
            found |= labels
            if len(found) > limit:
                column = None if spec.columns is None else spec.columns.with_role(roles.LABEL)[0]
                raise _too_many(path, limit, found, column)
    return sorted(found)


def loss_for(labels: Sequence[str]) -> str:
    """The loss for a file that begins with these labels: classes or numbers?"""
    distinct = {_plain(label) for label in labels}
    numeric = all(is_number(label) for label in distinct)
    return ANY_NUMBER if numeric and not are_two_classes(distinct) else TWO_CLASSES


def rule_for(labels: Sequence[str], loss: Loss, path: str) -> LabelRule | None:
    """The rule that says which labels are the classes; None where the loss takes them as they are."""
    if not isinstance(loss.labels, OneOf):
        return None
    low, high = sorted(loss.labels.values)
    spellings = join_spellings([label for label in labels if not is_number(label)])
    distinct = {_plain(spellings.get(label, label)) for label in labels}
    if all(is_number(label) and loss.allows(float(label)) for label in distinct):
        return None
    if not are_two_classes(distinct):
        _check_classes(distinct, path)
    names = next((pair for pair in _PAIRS if distinct <= pair), distinct)
    spelt = {_plain(label): label for label in sorted(labels, reverse=True)}
    ordered = sorted(names, key=lambda name: (float(name) if is_number(name) else 0.0, *alphabetical(name)))
    written = [spelt.get(name, name) for name in ordered]
    rule = two_classes(written[0], written[1], low, high) if len(written) == 2 else classes(written)
    return replace(rule, spellings=tuple(sorted(spellings.items())))


def are_usual_pair(labels: Iterable[str]) -> bool:
    """Whether they are 0 and 1 or −1 and 1, which no third follows: 1 and 2 may go on with 3."""
    distinct = {_plain(label) for label in labels}
    return any(distinct <= pair for pair in _PAIRS[:2])


def are_two_classes(labels: Iterable[str]) -> bool:
    """Whether there are two values, or one of a usual pair."""
    labels = list(labels)
    spellings = join_spellings(labels)
    distinct = {_plain(spellings.get(label, label)) for label in labels}
    return len(distinct) == 2 or any(distinct <= pair for pair in _PAIRS)


def _check_classes(distinct: set[str], path: str) -> None:
    """Refuse labels that are no classes: numbers with a comma, one class alone, or far too many."""
    if sum(map(has_decimal_comma, distinct)) > len(distinct) / 2:
        raise InputError(f"{path}: the label {min(distinct)!r} is not a number: {POINTS}")
    if len(distinct) == 1:
        raise InputError(
            f"{path}: all the first rows have the same label ({shorten(*distinct)}), so the other classes "
            "are not known: ", Parameter("labels", "a,b,c"), " names them all. If the rows are sorted by label, "
            "learn them in random order, too: ", Parameter("shuffle", True),
        )  # fmt: skip
    if len(distinct) > MOST_CLASSES:
        raise _too_many(path, MOST_CLASSES, distinct)


def _too_many(path: str, limit: int, labels: Iterable[str], column: str | None = None) -> InputError:
    """The error for labels of which there are too many to be classes."""
    some = ", ".join(shorten(label) for label in sorted(labels)[:5])
    where = "" if column is None else f" in the column {column!r}"
    return InputError(
        f"{path}: there are more than {limit:,} different labels{where} ({some}, …), too many for classes; "
        "is it the label column (", Parameter("label"), " names it)? Are they numbers (",
        Parameter("numbers", True, in_python="OnlineRegressor"), " predicts numbers)? ",
        Parameter("labels", "*,NAME"), " tells one class from the rest",
    )  # fmt: skip


def _plain(label: str) -> str:
    """1.0 and +1 are 1."""
    return plain(float(label)) if is_number(label) else label
