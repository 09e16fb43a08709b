"""`Corpus`: the documents of a file, the fields that are shown and learned, and how the file is read."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steelyard._parameters import Parameter
from steelyard.active.label_store import Document
from steelyard.io import columns as roles
from steelyard.io import formats
from steelyard.io.columns import Column, ColumnOverrides, Columns
from steelyard.io.csv_text import csv_records
from steelyard.io.errors import InputError
from steelyard.io.formats import TableOverrides
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import ANYTHING, two_classes
from steelyard.io.stream import Stream
from steelyard.labelling import exchange
from steelyard.scoring.records import records_of

BITS = 18  # refits average several models of 2^bits coefficients, while somebody waits
TABLE = "table"
_BY_NAME = "by its name"


@dataclass(frozen=True)
class Corpus:
    """Documents are read while they are stored: there may be a million."""

    kind: str
    """The tool that wrote the file, or `table`."""
    spec: InputSpec
    """How a saved model is to read later files; its features are the fields that are learned."""
    documents: Iterator[Document]
    label: str | None = None
    """The column of labels, if the file has one."""


def read(
    path: str, *, classes: tuple[str, ...] | None, kind: str | None = None, hide_labels: bool = False,
    overrides: ColumnOverrides | None = None,
) -> Corpus:  # fmt: skip
    """Open a file. Labels of these classes that it has are taken over, unless they are to be hidden."""
    kind = kind or exchange.recognise(path) or TABLE
    labels = None if hide_labels else classes
    single = _single_column(path) if kind == TABLE else None
    if kind == TABLE and single is None:
        return _read_table(path, overrides or ColumnOverrides(), labels)
    if single is not None:
        (overrides or ColumnOverrides()).roles([single])
        spec = InputSpec("jsonl", BITS, columns=Columns((Column(single, roles.TEXT),)))
        return Corpus(TABLE, spec, _single_rows(path, single))
    tool = exchange.by_name(kind)
    documents = list(tool.read(Path(path), labels))
    if not documents:
        raise InputError(f"{path}: has no documents")
    names = list(dict.fromkeys(name for document in documents for name in document.fields))
    texts = [name for name in names if name != exchange.ORIGINAL] if tool.TEXTS is None else tool.TEXTS
    columns = [Column(name, roles.TEXT if name in texts else roles.IGNORE) for name in names]
    return Corpus(kind, InputSpec("jsonl", BITS, columns=Columns(tuple(columns))), iter(documents))


def _single_column(path: str) -> str | None:
    """The name of a file's only column; readers that learn from tables take no such file.

    A .txt file has a text in every line, and no header.
    """
    if path.lower().endswith(".txt"):
        return "text"
    if not path.lower().endswith((".csv", ".tsv")) or not Path(path).is_file():
        return None
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        header = next(csv_records(file), [])
    single = len(header) == 1 and not any(separator in header[0] for separator in "\t;|")
    return header[0].strip() or None if single else None


def _single_rows(path: str, name: str) -> Iterator[Document]:
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        if path.lower().endswith(".txt"):
            texts = (line.rstrip("\r\n") for line in file)
        else:
            rows = csv_records(file)
            next(rows)
            texts = (row[0] for row in rows if row)
        for number, text in enumerate((text for text in texts if text.strip()), 1):
            yield Document(str(number), {name: text})


def _read_table(path: str, overrides: ColumnOverrides, classes: tuple[str, ...] | None) -> Corpus:
    with formats.open_head(path) as head:
        file_format = formats.identify_all([path], head)
        if not file_format.table:
            raise InputError(
                f"{path}: is {file_format.name}, which has no texts to show; label a table (CSV, JSON lines, "
                "Parquet, …), RIS, or tasks of Label Studio or Prodigy"
            )
        spec = file_format.complete(InputSpec(file_format.name, BITS), head, TableOverrides(overrides))
    if spec.columns is None:
        raise InputError(f"{path}: was converted, and has no texts to show; label the original file")
    texts = bool(spec.columns.with_role(roles.TEXT))
    columns = tuple(_for_labelling(column, overrides, texts=texts) for column in spec.columns.columns)
    spec = replace(spec, columns=replace(spec.columns, columns=columns))
    assert spec.columns is not None
    if not spec.columns.features:
        raise InputError(
            f"{path}: has no column to show; ", Parameter("text", "NAME"), " says which one is a text"
        )
    label = next(iter(spec.columns.with_role(roles.LABEL)), None)
    return Corpus(TABLE, spec, _table_rows(path, spec, label, classes), label)


def _for_labelling(column: Column, overrides: ColumnOverrides, *, texts: bool) -> Column:
    """A column as it is for labelling: a label only if it is called so, and no weights or offsets."""
    guessed = column.role == roles.LABEL and column.why != _BY_NAME and overrides.label != column.name
    if guessed and not texts:
        return replace(column, role=roles.TEXT)
    return (
        replace(column, role=roles.IGNORE) if guessed or column.role in (roles.WEIGHT, roles.BASE) else column
    )


def _table_rows(
    path: str, spec: InputSpec, label: str | None, classes: tuple[str, ...] | None
) -> Iterator[Document]:
    records = records_of(spec, path)
    assert spec.columns is not None
    tag = next(iter(spec.columns.with_role(roles.TAG)), None)
    number = 0  # of the row, from 1, as people count
    reader = replace(spec, label_rule=two_classes(ANYTHING, "\0")).reader()
    for parsed in Stream([path], reader, loss=None):
        for row in records.rows(parsed.block):
            number += 1
            fields = dict(zip(records.names, row, strict=True))
            given = None if label is None else _label_of(fields[label])
            if given is not None and classes is not None and given not in classes:
                raise InputError(
                    f"{path}, row {number}: the label {given!r} is neither {' nor '.join(classes)}; ",
                    Parameter("classes"), " names others, ", Parameter("hide_labels"), " leaves out those of the "
                    "file",
                )  # fmt: skip
            name = fields.get(tag) if tag else None
            yield Document(str(number if name is None else name), fields, None if classes is None else given)


def _label_of(cell: Any) -> str | None:
    text = "" if cell is None or cell != cell else str(cell).strip()
    return text or None
