"""`Stream`: files in, examples out, chunk by chunk and in order, however many threads parse them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from steelyard.features.names import Names
from steelyard.io import ahead, sources
from steelyard.io.blocks import BLOCK_SIZE, Block
from steelyard.io.parsed import Parsed
from steelyard.io.problems import InputError, Problem
from steelyard.io.sources import Source

DESCRIBED = 20  # skipped lines that are remembered in words; all are counted


class Format(Protocol):
    """What a format has to offer. `blocks` runs on one thread, `parse` on several at once."""

    def blocks(self, source: Source, size: int) -> Iterator[Block]: ...

    def parse(self, block: Block) -> Parsed: ...


class Stream:
    """The examples of some files. Iterating goes through them once; what was met on the way is counted.

    With `skip`, lines that cannot be read are left out and counted; without, the first one ends it.
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        reader: Format,
        *,
        names: Names | None = None,
        threads: int = 1,
        skip: bool = False,
        block_size: int = BLOCK_SIZE,
    ) -> None:
        self.paths = sources.expand(paths)
        self.rows = 0
        self.position = 0
        """Bytes of the files that have gone into the examples so far."""
        self.skipped = 0
        self.problems: list[Problem] = []
        self.remarks: set[str] = set()
        self._reader = reader
        self._names = names
        self._threads = threads
        self._skip = skip
        self._block_size = block_size
        self._lines = 0

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if that of one is not known, as for standard input."""
        sizes = [Path(path).stat().st_size if Path(path).is_file() else None for path in self.paths]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def __iter__(self) -> Iterator[Parsed]:
        for path in self.paths:
            self._lines = 0
            before = self.position
            with sources.opened(path) as source:
                blocks = self._reader.blocks(source, self._block_size)
                for parsed in ahead.mapped(self._reader.parse, blocks, self._threads):
                    self._settle(parsed)
                    self.position = before + parsed.block.position
                    yield parsed

    def _settle(self, parsed: Parsed) -> None:
        """What depends on all that came before: line numbers, and which names are new."""
        for note in parsed.notes:
            unit = parsed.block.unit
            problem = Problem(parsed.block.path, self._lines + note.line + 1, note.what, unit)
            if not self._skip:
                raise InputError(f"{problem}\n(--on-error skip leaves such {unit}s out and counts them)")
            if len(self.problems) < DESCRIBED:
                self.problems.append(problem)
        self.skipped += parsed.skipped
        self._lines += parsed.lines
        self.rows += len(parsed.examples)
        self.remarks |= parsed.remarks
        if self._names is not None and parsed.candidates is not None:
            chosen = self._names.admit(parsed.candidates)
            if len(chosen) and parsed.compose is not None:
                text, lengths = parsed.compose(parsed.candidates.places[chosen])
                self._names.name(parsed.candidates.indices[chosen], text, lengths)
