"""`Input`: a file to filter, the name of its output, and how each model reads it."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steelyard.filtering.scorer import Scorers
from steelyard.io import formats, sources
from steelyard.io.blocks import Block, ParsedBlock
from steelyard.io.csv_reader import DelimitedReader
from steelyard.io.errors import InputError
from steelyard.io.formats import Head
from steelyard.io.input_spec import InputSpec
from steelyard.io.sources import Source
from steelyard.io.stream import Reader
from steelyard.scoring.matching import check_columns, match, open_head, with_encoding
from steelyard.scoring.outputs import Compress, compressor
from steelyard.scoring.predicting import accept_any_labels
from steelyard.scoring.records import Records, new_records
from steelyard.scoring.rendering import Renderer, renderer

_REMEDY = "rename the model's file, after which scores are named"
BLOCK = 1 << 22  # bytes; a constant, because blocks are what a run goes on at and what is compressed


@dataclass(frozen=True)
class Input:
    """`name` is where its output lies in the folder."""

    path: str
    name: str
    named: bool = True
    """Whether it was given by itself, and not only the folder that it lies in."""

    @property
    def fingerprint(self) -> list[Any]:
        return list(sources.fingerprint(self.path))


def find(given: Sequence[str | Path]) -> list[Input]:
    """Files, patterns and folders, each folder with all files in it; outputs keep their place in a folder."""
    found: list[Input] = []
    for each in map(str, given):
        if each == sources.STANDARD_INPUT:
            raise InputError("outputs are named after their files, so standard input (-) cannot be filtered")
        if Path(each).is_dir():
            within = sorted(
                path for path in Path(each).rglob("*") if path.is_file() and _seen(path, Path(each))
            )
            if not within:
                raise InputError(f"{each}: there is no file in this folder")
            found += [Input(str(path), path.relative_to(each).as_posix(), named=False) for path in within]
        else:
            found += [Input(path, Path(path).name) for path in sources.expand([each])]
    names: dict[str, Input] = {}
    for one in found:
        other = names.setdefault(one.name, one)
        if other.path != one.path:
            raise InputError(
                f"{other.path} and {one.path} would have the same output {one.name}; give the folder "
                "that has both, or filter them into different folders"
            )
        names[one.name] = replace(one, named=one.named or other.named)
    return list(names.values())


def _seen(path: Path, folder: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


@dataclass(frozen=True)
class ModelReader:
    """One way of reading a file, which several models may share."""

    reader: Reader
    records: Records
    places: dict[str, Any]
    """Where in a delimited block this reader's columns are, if another reader cuts the blocks."""

    def parse(self, block: Block) -> ParsedBlock:
        return self.reader.parse(replace(block, **self.places) if self.places else block)


@dataclass(frozen=True)
class Prepared:
    """An input that was looked at: its readers, and which of them each model takes."""

    input: Input
    readers: list[ModelReader]
    reader_index: list[int]
    renderer: Renderer | None
    """None for an empty file, which has nothing to render."""
    compress: Compress
    kind: str
    fingerprint: list[Any]
    """What the input was before it was read; a file that changes while it is read is refused."""

    @property
    def records(self) -> Records:
        return self.readers[0].records

    def blocks(self, source: Source) -> Iterator[Block]:
        return iter(self.readers[0].reader.blocks(source, BLOCK) if self.readers else ())


class Preparer:
    """Looks at inputs. Readers are used again for files that are read alike."""

    def __init__(self, scorers: Scorers, encoding: str | None = None) -> None:
        self._scorers = scorers
        self._specs = [with_encoding(scorer.spec, encoding) for scorer in scorers.each]
        self._readers: list[tuple[InputSpec, Reader]] = []

    def documents(self, found: Sequence[Input]) -> tuple[list[Input], list[Input]]:
        """The inputs to filter, and the files of folders that are none.

        A suffix of no format says little: such a file is a document if it can be read as one.
        """
        usable, others, why = [], [], None
        for each in found:
            try:
                if not each.named and formats.by_suffix(each.path) is None:
                    with self.open(each) as head:
                        self.prepare(each, head)
                usable.append(each)
            except InputError as error:
                others.append(each)
                why = why or error
        if not usable and why is not None:
            raise why
        return usable, others

    def open(self, given: Input) -> AbstractContextManager[Head]:
        """The file, to be looked at by `prepare` and then read."""
        return open_head(given.path, self._specs[0])

    def prepare(self, given: Input, head: Head) -> Prepared:
        """How an open file is read for each model, and how its rows are written."""
        fingerprint, compress = given.fingerprint, compressor(head.source.beginning)
        if head.source.sheet:
            raise InputError(f"{given.path}: workbooks are no input of filter; save it as CSV")
        if not head.source.peek(1):
            return Prepared(given, [], [], None, compress, "jsonl", fingerprint)
        specs: list[InputSpec] = []
        reader_index = []
        for scorer, own in zip(self._scorers.each, self._specs, strict=True):
            spec = accept_any_labels(match(own, head, scorer.model.name))
            if spec not in specs:
                specs.append(spec)
            reader_index.append(specs.index(spec))
        readers = [self._reader(spec, head, first=spec is specs[0]) for spec in specs]
        names, records = self._scorers.columns, readers[0].records
        taken = [name for name in names if name in records.names]
        if taken:
            raise InputError(f"{given.path}: has a column {taken[0]!r} already; {_REMEDY}")
        numeric = [self._scorers.known[name] for name in names]
        made = renderer(specs[0].format, records, names, numeric, _REMEDY)
        return Prepared(given, readers, reader_index, made, compress, specs[0].format, fingerprint)

    def _reader(self, spec: InputSpec, head: Head, *, first: bool) -> ModelReader:
        records = new_records(spec)
        if records is None:
            raise InputError(
                f"{head.path}: is {spec.format}, which has no columns to add scores to; filter takes JSON "
                "lines, CSV, TSV, Parquet and Arrow tables (predict scores any file)"
            )
        records.look(head)
        check_columns(records, head)
        reader = next((reader for known, reader in self._readers if known == spec), None)
        if reader is None:
            reader = spec.reader()
            self._readers.append((spec, reader))
        places: dict[str, Any] = {}
        if not first and isinstance(reader, DelimitedReader):
            width, found, _ = reader.find_places(head.source.path, records.names)
            places = {"width": width, "places": found}
        return ModelReader(reader, records, places)
