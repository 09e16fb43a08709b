"""How the labels of files are read for a loss: as numbers, as two classes, or as the numbers of more classes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._parameters import Parameter
from steelyard.io import inference, sources
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import (
    ANYTHING,
    LabelRule,
    classes,
    is_number,
    join_spellings,
    plain,
    rule,
    two_classes,
)
from steelyard.losses import Loss, OneOf, by_name, class_labels
from steelyard.model_file import ModelFile

CLASSES, NUMBERS = "classes", "numbers"
MOST_CLASSES = 1000


@dataclass(frozen=True)
class Labels:
    """How labels are read, and the classes (None where labels are numbers)."""

    rule: LabelRule | None
    class_names: NDArray[Any] | None

    @property
    def classes(self) -> int:
        return 0 if self.class_names is None else len(self.class_names)


def infer_labels(
    paths: Sequence[str],
    spec: InputSpec,
    first: Sequence[str],
    loss: Loss,
    *,
    named: Sequence[str] | None = None,
    task: str | None = None,
) -> Labels:
    """Infer how labels are read from `first`, the distinct labels of the first rows.

    `named` are the classes as the user gives them. Without a `task` the loss decides: one that takes any number
    learns numbers, unless classes are named.
    """
    if spec.counted:
        if task == NUMBERS:
            raise InputError("rows with counts are of two classes, positive and negative, not of numbers")
        return _named(list(named or ("0", "1")), loss)
    if named is None and (task == NUMBERS or (task is None and not isinstance(loss.labels, OneOf))):
        strange = [label for label in first if not is_number(label)]
        if strange:
            raise InputError(
                f"{paths[0]}: the label {strange[0]!r} is not a number but a class: use ",
                Parameter("classes", True, in_python="OnlineClassifier"),
            )
        return Labels(None, None)
    if named is not None:
        labels = _named(list(named), loss)
        assert labels.rule is not None
        spellings = join_spellings([label for label in first if not is_number(label)], named)
        joined = tuple(sorted((label, name) for label, name in spellings.items() if name in named))
        joined = () if ANYTHING in named else joined
        return replace(labels, rule=replace(labels.rule, spellings=joined, named=True))
    two = loss if isinstance(loss.labels, OneOf) else by_name(inference.TWO_CLASSES)
    taken = all(is_number(label) and two.allows(float(label)) for label in first)
    if not taken and all(map(is_number, first)) and not all(float(label).is_integer() for label in first):
        raise InputError(
            f"{paths[0]}: its labels are numbers with fractions, not classes: use ",
            Parameter("numbers", True, in_python="OnlineRegressor"),
        )
    known = first if taken or inference.are_usual_pair(first) else _all(paths, spec, first)
    found = inference.rule_for(known, two, paths[0])
    if found is None:
        low, high = class_labels(two)
        found = two_classes(f"{low:g}", f"{high:g}")
        if two is loss:  # labels are as the loss takes them, soft ones included
            return Labels(None, name_array(found.names))
    labels = _named(list(found.names), loss)
    assert labels.rule is not None
    return replace(labels, rule=replace(labels.rule, spellings=found.spellings))


def infer_loss(
    spec: InputSpec, first: Sequence[str], named: Sequence[str] | None, task: str | None = None
) -> str:
    """Return the name of the loss that fits the labels; a file converted from classes still has classes."""
    if spec.counted:
        return inference.TWO_CLASSES
    if task is not None and named is None:
        return inference.TWO_CLASSES if task == CLASSES else inference.ANY_NUMBER
    original = None if spec.original is None else spec.original.label_rule
    if named is not None or original is not None:
        return inference.TWO_CLASSES
    return inference.loss_for(first)


def infer_labels_for_losses(
    paths: Sequence[str],
    spec: InputSpec,
    first: Sequence[str],
    losses: Sequence[Loss],
    *,
    named: Sequence[str] | None = None,
    task: str | None = None,
) -> Labels:
    """Infer how labels are read for several losses, which may differ in their labels for two classes: as 0 and 1.

    Labels that look like classes are classes for all losses.
    """
    likely_task = CLASSES if infer_loss(spec, first, named) == inference.TWO_CLASSES else NUMBERS
    if named is None and (task or likely_task) == NUMBERS:
        for loss in losses:
            if isinstance(loss.labels, OneOf):
                return in_codes(infer_labels(paths, spec, first, loss, task=CLASSES))
        return infer_labels(paths, spec, first, losses[0], task=NUMBERS)
    return in_codes(infer_labels(paths, spec, first, losses[0], named=named, task=CLASSES))


def in_codes(labels: Labels) -> Labels:
    """Read two classes as 0 and 1."""
    return _with_values(labels, 0.0, 1.0)


def in_terms_of(labels: Labels, loss: Loss) -> Labels:
    """Read two classes as the labels of this loss."""
    return _with_values(labels, *class_labels(loss)) if labels.classes == 2 else labels


def _with_values(labels: Labels, low: float, high: float) -> Labels:
    if labels.classes != 2:
        return labels
    if labels.rule is not None:
        return replace(labels, rule=replace(labels.rule, values=(low, high)))
    assert labels.class_names is not None
    negative, positive = map(str, labels.class_names)
    return replace(labels, rule=two_classes(negative, positive, low, high))


def with_original_names(labels: Labels, spec: InputSpec) -> Labels:
    """Give classes of converted files, whose labels are numbers, their names in the original file."""
    rule = None if spec.original is None else spec.original.label_rule
    if rule is None or labels.class_names is None:
        return labels
    names = {plain(value): name for name, value in zip(rule.names, rule.values, strict=True)}
    written = [str(name) for name in labels.class_names.tolist()]
    return replace(labels, class_names=name_array([names.get(name, name) for name in written]))


def _named(names: list[str], loss: Loss) -> Labels:
    if len(names) == 2:
        return Labels(two_classes(names[0], names[1], *class_labels(loss)), name_array(names))
    return Labels(rule(names[0], 0.0, 1.0) if len(names) < 2 else classes(names), name_array(names))


def _all(paths: Sequence[str], spec: InputSpec, first: Sequence[str]) -> Sequence[str]:
    """Return the labels of all rows, so that no rare class is missed; those of the first rows for a pipe."""
    if any(map(sources.once_only, paths)):
        return first
    return inference.distinct_labels(paths, spec, MOST_CLASSES)


def class_names_of(stored: ModelFile, spec: InputSpec | None) -> NDArray[Any] | None:
    """Return the classes of a stored model; older files of the command line have them in the rule of labels."""
    if stored.class_names is not None:
        return stored.class_names
    if spec is None or spec.label_rule is None:
        names = own_classes(stored.engine.settings[0].loss)
    else:
        names = name_array(spec.label_rule.names)
    return names if spec is None else with_original_names(Labels(None, names), spec).class_names


def own_classes(loss: Loss) -> NDArray[Any] | None:
    """Return the two labels of a loss for classes; None for a loss of numbers."""
    if not isinstance(loss.labels, OneOf):
        return None
    low, high = class_labels(loss)
    return name_array([f"{low:g}", f"{high:g}"])


def name_array(names: Sequence[str]) -> NDArray[Any]:
    """Return names as an array, of numbers if all of them are numbers."""
    if all(map(is_number, names)):
        numbers = np.array([float(name) for name in names])
        whole = np.all(numbers == np.rint(numbers)) and np.all(np.abs(numbers) < 2**53)
        return numbers.astype(np.int64) if whole else numbers
    return np.array(names)
