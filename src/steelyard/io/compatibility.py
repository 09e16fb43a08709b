"""Files for a model that has learned others: read as those were, if features have the same names.

They have in files of the same format; among all kinds of tables with the same columns; and between
files and what they were converted to. Whether the model's own spec fits a file is seen from its first
bytes; only if it does not, the file's own format is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from steelyard._parameters import Parameter
from steelyard.io import columns as roles
from steelyard.io import formats, input_spec
from steelyard.io.errors import InputError
from steelyard.io.formats import Head
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, LabelRule, is_number, plain


def spec_for(spec: InputSpec, paths: Sequence[str], model: str) -> InputSpec:
    """How to read these files for the model of that name, which has learned files read by `spec`."""
    found: dict[str, InputSpec] = {}
    for path in paths:
        with formats.open_head(path, spec.encoding) as head:
            if head.source.peek(1):  # an empty file may be read in any way
                found[path] = adapt(spec, head, model)
    return common_spec(found, model) or spec


def common_spec(found: Mapping[str, InputSpec], model: str) -> InputSpec | None:
    """The one way in which all these files are read; None if there is no file."""
    for path, other in found.items():
        first = next(iter(found))
        if other != found[first]:
            raise InputError(f"{first} and {path} differ in format: give them to {model} one at a time")
    return next(iter(found.values()), None)


def adapt(spec: InputSpec, head: Head, model: str) -> InputSpec:
    """How to read one file for the model of that name."""
    named = spec_of_names(spec)  # none for sparse rows without a header
    if head.binary is None:
        head.check_text()
    own = formats.by_name(spec.format)
    if own.binary == (head.binary is not None) and own.fits(spec, head):
        if named is not None and spec.converted:
            check_converted(head, named, model)
        return spec
    found = head.binary or formats.identify(head.path, head)
    adapted = None if named is None else found.adapt(named, head, model)
    if adapted is None:
        raise InputError(_describe_mismatch(head.source.path, found.name, named, model))
    return adapted


def spec_of_names(spec: InputSpec) -> InputSpec | None:
    """How files are read whose features have the model's names: for converted files, their original."""
    if not spec.converted:
        return spec
    original = spec.original
    if original is None or spec.label_rule is None:
        return original
    if original.label_rule is None:
        return replace(original, label_rule=spec.label_rule)
    return replace(original, label_rule=_compose(original.label_rule, spec.label_rule))


def _compose(made: LabelRule, then: LabelRule) -> LabelRule:
    """The rule `then`, for numbers that `made` has made of names, as a rule for those names."""
    names = {plain(value): name for name, value in zip(made.names, made.values, strict=True)}
    pairs = [
        (names.get(plain(float(name)) if is_number(name) else name, name), value)
        for name, value in zip(then.names, then.values, strict=True)
    ]
    pairs.sort(key=lambda pair: pair[0] != ANYTHING)
    return LabelRule(
        tuple(name for name, _ in pairs), tuple(value for _, value in pairs), made.spellings, named=made.named
    )


def check_converted(head: Head, named: InputSpec, model: str) -> InputSpec | None:
    """How a file was converted, which must agree with the model's spec. None if the file does not say."""
    from steelyard.io import arrow_csr, arrow_reader

    path = head.path
    header = arrow_csr.read_header(arrow_reader.read_schema(head.source).metadata, path)
    if header is None or not header.reading:
        return None
    made = input_spec.stored_in(path, header.reading)
    if (made.columns is None or named.columns is None) and made.format != named.format:
        raise InputError(_describe_mismatch(path, f"converted {made.format}", named, model))
    for what, (theirs, ours) in _naming_options(made, named).items():
        if theirs != ours:
            raise InputError(
                f"{path}: was converted with other ", what, f" than those of {model} ({_show(theirs)}, not "
                f"{_show(ours)}); convert the original with those, or give the original itself",
            )  # fmt: skip
    return made


def _naming_options(made: InputSpec, named: InputSpec) -> dict[str | Parameter, tuple[Any, Any]]:
    """All that decides the names of features, in the one and in the other."""
    found: dict[str | Parameter, tuple[Any, Any]] = {
        Parameter("bits"): (made.bits, named.bits),
        Parameter("interactions"): (made.interactions, named.interactions),
        "options of namespaces": (made.namespaces, named.namespaces),
        "columns": (_feature_roles(made), _feature_roles(named)),
    }
    if roles.TEXT in _feature_roles(made).values():
        found["options of texts"] = made.text.as_json(), named.text.as_json()
    if made.label_rule is not None and named.label_rule is not None:
        found[Parameter("labels")] = made.label_rule.names, named.label_rule.names
    return found


def _feature_roles(spec: InputSpec) -> dict[str, str]:
    columns = () if spec.columns is None else spec.columns.columns
    return {column.name: column.role for column in columns if column.role in roles.FEATURES}


def _describe_mismatch(path: str, found: str, named: InputSpec | None, model: str) -> str:
    if named is None:
        learned, wanted = "sparse rows", "such rows"
    elif named.columns is not None:
        learned = named.format
        wanted = "a table with the same columns (csv, tsv, excel, jsonl, arrow or parquet)"
    else:
        learned = named.format
        wanted = f"{learned} files, plain or compressed, or what steelyard convert makes of them"
    return (
        f"{path}: is {found}, and {model} was trained on {learned}, where features have other names; "
        f"give it {wanted}"
    )


def _show(thing: Any) -> str:
    if isinstance(thing, dict):
        thing = tuple(f"{name} {value}" for name, value in thing.items())
    return ", ".join(thing) or "none" if isinstance(thing, tuple) else str(thing)
