"""`Input`: a file to filter, the name of its output, and how each model reads it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steelyard.engine.file_predictions import accept_any_labels
from steelyard.filtering import rendering
from steelyard.filtering.rendering import Compress, Renderer
from steelyard.filtering.scorer import Scorers
from steelyard.io import formats, sources
from steelyard.io.blocks import Block
from steelyard.io.csv_reader import DelimitedBlock
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.required_columns import spec_to_predict
from steelyard.io.stream import Reader
from steelyard.io.table_records import Records, records_of
from steelyard.io.transcoding import check_encoding

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
class _Way:
    """One way of reading a file, which several models may share."""

    reader: Reader
    records: Records
    places: dict[str, Any]
    """What a delimited block knows of this reader's columns."""

    def block(self, block: Block) -> Block:
        return replace(block, **self.places) if self.places else block


@dataclass(frozen=True)
class Prepared:
    """An input that was looked at. `ways` and, for each model, which of them it takes."""

    input: Input
    ways: list[_Way]
    way_of: list[int]
    renderer: Renderer
    compress: Compress
    kind: str
    encoding: str | None
    empty: bool
    fingerprint: list[Any]
    """Of the input before it was read; a file that changes while it is read is refused."""

    def blocks(self) -> Iterator[Block]:
        if self.empty:
            return
        with sources.open_source(self.input.path, self.encoding) as source:
            yield from self.ways[0].reader.blocks(source, BLOCK)


class Preparer:
    """Looks at inputs. Readers are used again for files that are read alike."""

    def __init__(self, scorers: Scorers, encoding: str | None = None) -> None:
        self._scorers = scorers
        self._encoding = None if encoding is None else check_encoding(encoding)
        self._readers: list[tuple[InputSpec, Reader]] = []

    def documents(self, found: Sequence[Input]) -> tuple[list[Input], list[Input]]:
        """The inputs to filter, and the files of folders that are none.

        A suffix of no format says little: such a file is a document if it can be read as one.
        """
        usable, others, why = [], [], None
        for each in found:
            try:
                if not each.named and formats.by_suffix(each.path) is None:
                    self.prepare(each)
                usable.append(each)
            except InputError as error:
                others.append(each)
                why = why or error
        if not usable and why is not None:
            raise why
        return usable, others

    def prepare(self, each: Input) -> Prepared:
        specs: list[InputSpec] = []
        way_of = []
        for scorer in self._scorers.each:
            own = scorer.spec if self._encoding is None else replace(scorer.spec, encoding=self._encoding)
            spec = accept_any_labels(spec_to_predict(own, [each.path], str(scorer.model.path)))
            if spec not in specs:
                specs.append(spec)
            way_of.append(specs.index(spec))
        with formats.open_head(each.path, specs[0].encoding) as head:
            empty = not head.source.peek(1)
            if head.source.sheet:
                raise InputError(f"{each.path}: workbooks are no input of filter; save it as CSV")
        fingerprint = each.fingerprint
        names = self._scorers.columns
        numeric = [self._scorers.known[name] for name in names]
        compress = rendering.compressor(each.path)
        kind = specs[0].format
        if empty:
            nothing = rendering.Nothing()
            return Prepared(each, [], way_of, nothing, compress, "jsonl", None, True, fingerprint)
        ways = [self._way(spec, each.path, first=spec is specs[0]) for spec in specs]
        renderer = rendering.renderer(ways[0].records, names, numeric)
        return Prepared(each, ways, way_of, renderer, compress, kind, specs[0].encoding, False, fingerprint)

    def _way(self, spec: InputSpec, path: str, *, first: bool) -> _Way:
        records = records_of(spec, [path])
        if records is None:
            raise InputError(
                f"{path}: is {spec.format}, which has no columns to add scores to; filter takes JSON lines, "
                "CSV, TSV, Parquet and Arrow tables (predict scores any file)"
            )
        reader = next((reader for known, reader in self._readers if known == spec), None)
        if reader is None:
            reader = spec.reader()
            self._readers.append((spec, reader))
        places: dict[str, Any] = {}
        if not first and spec.dialect is not None:
            with sources.open_source(path, spec.encoding) as source:
                block = next(reader.blocks(source, 1 << 16))
                assert isinstance(block, DelimitedBlock)
                places = {"width": block.width, "places": block.places}
        return _Way(reader, records, places)
