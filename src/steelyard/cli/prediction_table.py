"""`predict -o table.csv`: the table that was given, with the predictions as further columns."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.cli import scoring
from steelyard.cli.common import tell
from steelyard.cli.prediction_columns import AddedColumns
from steelyard.engine.loaded_model import LoadedModel
from steelyard.io.absent_columns import AbsentColumns
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.io.table_records import Records, Row, records_of
from steelyard.io.table_writers import TableWriter, TextOutput, open_writer, text_writer


class _Tags(Records):
    """Of files without columns: the tags of the rows that could be read."""

    names = ("tag",)

    def __init__(self, spec: InputSpec, paths: Sequence[str]) -> None:
        super().__init__(spec, paths)
        self._tags: list[Row] = []

    def read(self, parsed: ParsedBlock) -> NDArray[np.bool_]:
        self._tags = [[tag.decode("utf-8", "replace")] for tag in scoring.tags(parsed)]
        return np.ones(len(self._tags), bool)

    def rows(self, block: Block) -> list[Row]:
        return self._tags


def write(
    output: Path, model: LoadedModel, added: AddedColumns, paths: list[str], given: dict[str, Any]
) -> Stream:
    """Predict the files and write them as one table; rows that cannot be read have empty predictions."""
    stream, records, absent = _score(model, paths, given)
    with open_writer(output, records, added.names_beside(records.names), added.numeric) as writer:
        _copy(absent.watch(stream), records, added, writer)
    return stream


def write_text(
    write: Callable[[bytes], None],
    kind: str,
    model: LoadedModel,
    added: AddedColumns,
    paths: list[str],
    given: dict[str, Any],
) -> Stream:
    """The same as "csv", "tsv" or "jsonl" in UTF-8, to an output that stays open."""
    stream, records, absent = _score(model, paths, given)
    writer = text_writer(TextOutput(write), kind, records, added.names_beside(records.names))
    _copy(absent.watch(stream), records, added, writer)
    return stream


def _score(
    model: LoadedModel, paths: list[str], given: dict[str, Any]
) -> tuple[Stream, Records, AbsentColumns]:
    spec, stream = scoring.score(model, paths, given)
    return stream, records_of(spec, paths) or _Tags(spec, paths), AbsentColumns(spec, tell)


def _copy(stream: Iterable[ParsedBlock], records: Records, added: AddedColumns, writer: TableWriter) -> None:
    for parsed in stream:
        read = records.read(parsed)
        if len(read):
            writer.write(parsed.block, added.values(scoring.predictions_of(parsed), read))
