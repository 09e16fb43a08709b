"""Sparse text, one example per line: Vowpal Wabbit's `label importance base 'tag |namespace name:value …`,
and `label index:value …` of svmlight and libsvm.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from steelyard.io.formats import MARK, Format, Head

if TYPE_CHECKING:
    from steelyard.features import Names
    from steelyard.io.blocks import ParsedBlock
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader

HEAD_BYTES = 1 << 20
HEAD_ROWS = 1000


class SparseText(Format):
    """What they have in common: labels are numbers, and there are no columns."""

    def head_labels(self, spec: "InputSpec", head: Head) -> list[str]:
        from steelyard.io.labels import distinct_numbers

        return distinct_numbers(self._parse_head(spec, head).examples.labels[:HEAD_ROWS])

    def label_sets(self, spec: "InputSpec", path: str) -> Iterator[set[str]]:
        from steelyard.io.labels import distinct_numbers
        from steelyard.io.stream import Stream

        for parsed in Stream([path], self.reader(spec, None), skip=True, encoding=spec.encoding):
            yield set(distinct_numbers(parsed.examples.labels))

    def fits(self, spec: "InputSpec", head: Head) -> bool:
        parsed = self._parse_head(spec, head)
        return len(parsed.examples) > 0 or not parsed.skipped

    def _parse_head(self, spec: "InputSpec", head: Head) -> "ParsedBlock":
        """The first lines, always the same number of bytes, so that what is inferred never changes."""
        import numpy as np

        from steelyard.io.blocks import Block

        source = head.source
        start = source.peek(HEAD_BYTES)
        text = start if len(start) < HEAD_BYTES else start[: start.rfind(b"\n") + 1]
        text = text.removeprefix(MARK) + (b"" if text.endswith(b"\n") else b"\n")
        block = Block(source.path, np.frombuffer(text, np.uint8), source.position)
        return self.reader(spec, None).parse(block)


class Vw(SparseText):
    name = "vw"
    suffixes = (".vw",)
    order = 40
    namespaces = True
    _LINE: ClassVar[re.Pattern[bytes]] = re.compile(rb"[^|]*\|.*")

    def recognise(self, head: Head) -> bool:
        return all(self._LINE.fullmatch(line) for line in head.lines)

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.sparse_reader import VwReader

        return VwReader(spec, names)


class Svmlight(SparseText):
    name = "svmlight"
    suffixes = (".svm", ".svmlight", ".libsvm")
    order = 30
    crosses = False
    _LINE: ClassVar[re.Pattern[bytes]] = re.compile(rb"[-+]?[\d.eE+-]+(\s+qid:\d+)?(\s+\d+:\S+)*\s*(#.*)?")

    def recognise(self, head: Head) -> bool:
        return all(self._LINE.fullmatch(line) for line in head.lines if not line.startswith(b"#"))

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.sparse_reader import SvmlightReader

        return SvmlightReader(spec, names)
