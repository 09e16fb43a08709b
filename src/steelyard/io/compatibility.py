"""Files for a model that has learned others: read as those were, where features are called the same.

That is so in files of the same format; among all kinds of tables with the same columns; and between
files and the ready-made rows that they were converted to. Whether a file can be read as the model's
own is seen from its first bytes; only if not, it is asked what else it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from steelyard.io import arrow_csr, batches, dialects, inference, jsonl, sources
from steelyard.io import columns as roles
from steelyard.io import input_spec as readings
from steelyard.io.batches import IPC_FILE, IPC_STREAM, PARQUET
from steelyard.io.errors import InputError
from steelyard.io.formats import check_no_document, check_text
from steelyard.io.input_spec import ARROW, InputSpec
from steelyard.io.labels import ANYTHING, LabelRule, is_number, plain
from steelyard.io.sources import Source

T = TypeVar("T")

_TEXT_TABLES = ("csv", "tsv", "jsonl")


def reading_for(reading: InputSpec, paths: Sequence[str], model: str) -> InputSpec:
    """How to read these files for the model of that name, which has learned files read as `reading` says."""
    read = {path: found for path in paths if (found := _reading(reading, path, model)) is not None}
    for path, found in read.items():
        first = next(iter(read))
        if found != read[first]:
            raise InputError(f"{first} and {path} differ in format: {model} takes them one after the other")
    return next(iter(read.values()), reading)


def _reading(reading: InputSpec, path: str, model: str) -> InputSpec | None:
    """Of one file; none if it is empty, and may be read in any way."""
    named = _names(reading)  # none, for rows of which nobody knows how they were made
    with sources.opened(path) as source:
        if not source.peek(1):
            return None
        if not _is_arrow(source):
            check_text(source)
        if _fits(reading, source, path):
            if named is not None and _ready_made(reading):
                _check_made(path, named, model)
            return reading
        found = inference.format_of([path])
        other = None
        if named is not None:
            typed = _is_arrow(source)
            other = _typed(named, found, path, model) if typed else _text(named, found, source, path)
    if other is None:
        raise InputError(_mismatch(source.path, found, named, model))
    return other


def _names(reading: InputSpec) -> InputSpec | None:
    """How files are read whose features are called as the model's: of ready-made rows, their original."""
    if not _ready_made(reading):
        return reading
    original = reading.original
    if original is None or reading.label_rule is None:
        return original
    if original.label_rule is None:
        return replace(original, label_rule=reading.label_rule)
    return replace(original, label_rule=_compose(original.label_rule, reading.label_rule))


def _fits(reading: InputSpec, source: Source, path: str) -> bool:
    """Whether something can be read in this way: all of it need not, a line may be wrong."""
    if _is_arrow(source) or reading.format in ARROW:
        ordinary = reading.columns is not None
        return (
            _is_arrow(source)
            and reading.format in ARROW
            and ordinary != arrow_csr.is_ready(batches.schema(path))
        )
    if reading.columns is None:
        parsed = inference.head_parsed(source, reading)
        return len(parsed.examples) > 0 or not parsed.skipped
    if reading.dialect is None:
        check_no_document(source)
        return bool(jsonl.head_objects(source))
    names = dialects.read_head(source, reading.dialect).names
    if not reading.dialect.header:
        return len(names) == len(reading.columns.names)
    return set(_features(reading)) <= set(names)


def _text(named: InputSpec, found: str, source: Source, path: str) -> InputSpec | None:
    """Of a text file, where the model's own way does not fit."""
    if named.columns is not None and found in _TEXT_TABLES:
        if found == "jsonl":
            if named.format != found:  # a key that is not there says nothing, so the reader would not either
                keys = [key for row in jsonl.head_objects(source) for key in row]
                roles.require(_features(named), keys, source.path)
            return replace(named, format=found, dialect=None)
        header = named.dialect is None or named.dialect.header
        return replace(named, format=found, dialect=dialects.sniff(source, header=header))
    # where it ought to fit and does not, the reader knows what is wrong with which line
    return named if found == named.format or _fits(named, source, path) else None


def _typed(named: InputSpec, found: str, path: str, model: str) -> InputSpec | None:
    """Of Arrow and Parquet."""
    if not arrow_csr.is_ready(batches.schema(path)):
        return None if named.columns is None else replace(named, format=found, dialect=None)
    made = _check_made(path, named, model)
    if made is None:
        return None
    rule = _rule(made.label_rule, named.label_rule)
    return InputSpec(found, named.bits, label_rule=rule, dtype=named.dtype, original=made)


def _check_made(path: str, named: InputSpec, model: str) -> InputSpec | None:
    """How ready-made rows were made: as the model's files are read. None where they do not say."""
    header = batches.header(path)
    if header is None or not header.reading:
        return None
    try:
        made = readings.from_json(dict(header.reading))
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: its header is damaged; convert the original again") from None
    if (made.columns is None or named.columns is None) and made.format != named.format:
        raise InputError(_mismatch(path, f"converted {made.format}", named, model))
    for what, (theirs, ours) in _compared(made, named).items():
        if theirs != ours:
            raise InputError(
                f"{path}: was converted with other {what} than those of {model} ({_said(theirs)}, not "
                f"{_said(ours)}); convert the original with those, or give that itself"
            )
    return made


def _compared(made: InputSpec, named: InputSpec) -> dict[str, tuple[Any, Any]]:
    """What decides how features are called, in the one and in the other."""
    both = (made, named)
    found: dict[str, tuple[Any, Any]] = {
        "--bits": _each(both, lambda one: one.bits),
        "--interactions": _each(both, lambda one: one.interactions),
        "columns": _each(both, _roles),
    }
    if roles.TEXT in _roles(made).values():
        found["options of texts"] = _each(both, lambda one: one.text.as_dict())
    if made.label_rule is not None and named.label_rule is not None:
        rules = made.label_rule, named.label_rule
        found["--labels"] = _each(rules, lambda rule: rule.names)
    return found


def _each(both: tuple[T, T], of: Callable[[T], Any]) -> tuple[Any, Any]:
    return of(both[0]), of(both[1])


def _rule(made: LabelRule | None, named: LabelRule | None) -> LabelRule | None:
    """Labels of ready-made rows are numbers: the file's own, or those that a rule has made of names."""
    if made is None or named is None:
        return named
    return LabelRule(tuple(map(plain, made.values)), named.values)


def _compose(made: LabelRule, then: LabelRule) -> LabelRule:
    """The rule `then`, for numbers that `made` has made of names, as a rule for those names."""
    names = {plain(value): name for name, value in zip(made.names, made.values, strict=True)}
    pairs = [
        (names.get(plain(float(name)) if is_number(name) else name, name), value)
        for name, value in zip(then.names, then.values, strict=True)
    ]
    pairs.sort(key=lambda pair: pair[0] != ANYTHING)
    return LabelRule(tuple(name for name, _ in pairs), tuple(value for _, value in pairs))


def _features(reading: InputSpec) -> list[str]:
    return list(_roles(reading))


def _roles(reading: InputSpec) -> dict[str, str]:
    """Of the columns that become features."""
    columns = () if reading.columns is None else reading.columns.columns
    return {column.name: column.role for column in columns if column.role in roles.FEATURES}


def _is_arrow(source: Source) -> bool:
    return source.peek(len(IPC_FILE)).startswith((IPC_FILE, IPC_STREAM, PARQUET))


def _ready_made(reading: InputSpec) -> bool:
    return reading.format in ARROW and reading.columns is None


def _mismatch(path: str, found: str, named: InputSpec | None, model: str) -> str:
    if named is None:
        learned, wanted = "ready-made rows", "such rows"
    elif named.columns is not None:
        learned = named.format
        wanted = "a table with the same columns (csv, tsv, jsonl, arrow or parquet)"
    else:
        learned = named.format
        wanted = f"{learned} files, plain or compressed, or what steelyard convert makes of them"
    return (
        f"{path}: is {found}, and {model} was trained on {learned}, where features have other names; "
        f"give it {wanted}"
    )


def _said(thing: Any) -> str:
    if isinstance(thing, dict):
        thing = tuple(f"{name} {value}" for name, value in thing.items())
    return ", ".join(thing) or "none" if isinstance(thing, tuple) else str(thing)
