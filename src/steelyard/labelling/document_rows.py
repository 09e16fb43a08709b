"""Stored documents as the learner's rows: they are read as JSON lines, whatever file they came from."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from steelyard.examples import Examples, join
from steelyard.io import columns as roles
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Reader


def parse(batches: Iterable[Sequence[str]], spec: InputSpec, path: str) -> Examples:
    """One row for each line of JSON; the path is for messages."""
    reader = _reader(spec)
    return join([_parse_batch(reader, lines, path) for lines in batches])


def _reader(spec: InputSpec) -> Reader:
    assert spec.columns is not None
    own = tuple(
        replace(column, role=column.role if column.role in roles.FEATURES else roles.IGNORE)
        for column in spec.columns.columns
    )
    columns = replace(spec.columns, columns=own)
    return InputSpec("jsonl", spec.bits, columns=columns, text=spec.text).reader()


def _parse_batch(reader: Reader, lines: Sequence[str], path: str) -> Examples:
    text = np.frombuffer("".join(f"{line}\n" for line in lines).encode(), np.uint8)
    parsed = reader.parse(Block(path, text, 0))
    if len(parsed.examples) != len(lines):
        raise InputError(f"{path}: some document cannot be learned from: ", parsed.notes[0].what)
    return parsed.examples


def as_matrix(rows: Examples) -> sparse.csr_matrix:
    """The same rows for an estimator, which share their memory."""
    return sparse.csr_matrix((rows.values, rows.indices, rows.indptr), (len(rows), rows.features))


def with_repeated_words(spec: InputSpec, repeated: str) -> InputSpec:
    """The same specification, but for how much a word counts that occurs several times."""
    return replace(spec, text=replace(spec.text, repeated=repeated))
