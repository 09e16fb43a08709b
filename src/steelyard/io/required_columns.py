"""Files to be predicted need the columns of the model: one rule, and the same words, for every command.

A table without one of them is refused. Objects of JSON may be sparse: a file is refused if none of its first
rows has the text, or, for a model without texts, any of the columns; rows that lack some are told of by
`absent_columns`. A pipe whose lines are answered as they come is not refused for its lines: how many of them
are the first ones depends on the moment.
"""

from collections.abc import Iterable, Sequence

from steelyard._parameters import message_of
from steelyard.io import columns as roles
from steelyard.io import compatibility, formats, jsonl_reader
from steelyard.io.columns import NAME_THE_TEXT, AbsentColumnError, Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.table_records import JsonRecords, records_of


def spec_to_predict(spec: InputSpec, paths: Sequence[str], model: str) -> InputSpec:
    """How to read these files for the model of that name, which has learned files read by `spec`."""
    try:
        found = compatibility.spec_for(spec, paths, model)
    except AbsentColumnError as error:
        named = compatibility.spec_of_names(spec)
        assert named is not None
        assert named.columns is not None
        raise _with_hint(error, named.columns) from None
    for path in paths:
        _check(found, path)
    return found


def require_features(columns: Columns, names: Iterable[str], where: str) -> None:
    """Refuse a table that lacks columns of the model; if that is its only text, with what to do."""
    texts = columns.with_role(roles.TEXT)
    try:
        roles.require([*texts, *columns.features], names, where)
    except AbsentColumnError as error:
        raise _with_hint(error, columns) from None


def _check(spec: InputSpec, path: str) -> None:
    with formats.open_head(path, spec.encoding) as head:
        if head.source.live or not head.source.peek(1):
            return
        if (records := records_of(spec, [path])) is None:
            return
        assert spec.columns is not None
        if isinstance(records, JsonRecords):
            wanted = set(spec.columns.with_role(roles.TEXT) or spec.columns.features)
            if any(wanted & row.keys() for row in jsonl_reader.head_objects(head.source)):
                return
    if records.names:  # of JSON lines none may be an object: the reader says so
        require_features(spec.columns, records.names, head.source.path)


def _with_hint(error: AbsentColumnError, columns: Columns) -> InputError:
    """A text under another name can be named, if there is but one; not again, if the name was given."""
    helps = [error.name] == list(columns.with_role(roles.TEXT)) and error.name not in columns.renamed
    return InputError(message_of(error), "; ", NAME_THE_TEXT) if helps else error
