"""Whether files match a model, and how they are read for it. Each file is looked at once.

A table without a column of the model is refused. Objects of JSON may be sparse: a file is refused if none of its
first rows has the text, or, for a model without texts, any of the columns; `absent_columns` tells of rows that lack
some. A pipe whose lines are answered as they come is not refused for its lines: how many of them are the first ones
depends on the moment.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from steelyard._parameters import message_of
from steelyard.io import columns as roles
from steelyard.io import compatibility, formats, jsonl_reader
from steelyard.io.columns import NAME_THE_TEXT, AbsentColumnError, Columns
from steelyard.io.errors import InputError
from steelyard.io.formats import Head
from steelyard.io.input_spec import InputSpec
from steelyard.io.transcoding import check_encoding
from steelyard.scoring.records import JsonRecords, Records, new_records

JSON_LINES = "jsonl"


def match_files(
    spec: InputSpec, paths: Sequence[str], model: str, *, one_table: bool = False
) -> tuple[InputSpec, Records | None]:
    """How these files are read for the model of that name, which learned files read by `spec`; and their records.

    With `one_table`, files with other columns than the first are an error, and records know all names.
    """
    found: dict[str, InputSpec] = {}
    records: Records | None = None
    empty: list[str] = []
    for path in paths:
        with open_head(path, spec) as head:
            if not head.source.peek(1):  # it may be read in any way
                empty.append(head.source.path)
                continue
            found[path] = match(spec, head, model)
            compatibility.common_spec(found, model)
            if records is None:
                records = new_records(found[path])
            if records is None:
                continue
            records.look(head)
            check_columns(records, head)
            if one_table:
                records.look_at_names(head)
    spec = compatibility.common_spec(found, model) or spec
    if one_table:
        records = records or new_records(spec)
        if empty and records is not None and not isinstance(records, JsonRecords):
            raise InputError(f"{empty[0]}: there is no record at its beginning")
        if records is not None:
            records.check_one_table()
    return spec, records


def with_encoding(spec: InputSpec, encoding: str | None) -> InputSpec:
    """The same for text in this encoding, if it is given; also for the originals of converted files."""
    if encoding is None:
        return spec
    known = check_encoding(encoding)
    original = None if spec.original is None else replace(spec.original, encoding=known)
    return replace(spec, encoding=known, original=original)


def open_head(path: str, spec: InputSpec) -> AbstractContextManager[Head]:
    """The beginning of a file for a model whose files were read by `spec`, in the encoding that they had."""
    named = compatibility.spec_of_names(spec)
    return formats.open_head(path, spec.encoding if named is None else named.encoding)


def match(spec: InputSpec, head: Head, model: str) -> InputSpec:
    """How one file is read for the model of that name, which learned files read by `spec`."""
    try:
        return compatibility.adapt(spec, head, model)
    except AbsentColumnError as error:
        named = compatibility.spec_of_names(spec)
        assert named is not None
        assert named.columns is not None
        raise _with_hint(error, named.columns) from None


def check_columns(records: Records, head: Head) -> None:
    """Refuse a file that lacks what the model needs, as far as its beginning shows."""
    columns = records.spec.columns
    assert columns is not None
    if head.source.live or not head.source.peek(1):
        return
    names: Collection[str] = records.latest_names
    if isinstance(records, JsonRecords):
        wanted = set(columns.with_role(roles.TEXT) or columns.features)
        if any(wanted & row.keys() for row in jsonl_reader.head_objects(head.source)):
            return
        names = [name for row in jsonl_reader.head_objects(head.source) for name in row]
    if names:  # none of the lines may be an object: the reader says so
        require_features(columns, names, head.source.path)


def require_features(columns: Columns, names: Iterable[str], where: str) -> None:
    """Refuse a table that lacks columns of the model; if that is its only text, with what to do."""
    texts = columns.with_role(roles.TEXT)
    try:
        roles.require([*texts, *columns.features], names, where)
    except AbsentColumnError as error:
        raise _with_hint(error, columns) from None


def _with_hint(error: AbsentColumnError, columns: Columns) -> InputError:
    """A text under another name can be named, if there is but one; not again, if the name was given."""
    helps = [error.name] == list(columns.with_role(roles.TEXT)) and error.name not in columns.renamed
    return InputError(message_of(error), "; ", NAME_THE_TEXT) if helps else error


def spec_of_lines(spec: InputSpec, model: str) -> InputSpec:
    """How single lines are read: tables as JSON lines, whatever they were when the model learned them."""
    if spec.columns is not None:
        return replace(spec, format=JSON_LINES, dialect=None)
    if not spec.converted:
        return spec
    if spec.original is None:
        raise InputError(f"{model}: was trained on sparse rows without names, so it cannot read lines")
    return spec_of_lines(spec.original, model)
