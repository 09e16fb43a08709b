"""svmlight and libsvm text: `label index:value …`, one example per line."""

import re
from typing import TYPE_CHECKING, ClassVar

from steelyard.io.formats import Head
from steelyard.io.formats.vw import SparseText

if TYPE_CHECKING:
    from steelyard.features.names import Names
    from steelyard.io.input_spec import InputSpec
    from steelyard.io.stream import Reader


class Svmlight(SparseText):
    name = "svmlight"
    suffixes = (".svm", ".svmlight", ".libsvm")
    order = 30
    crosses = False
    _LINE: ClassVar[re.Pattern[bytes]] = re.compile(rb"[-+]?[\d.eE+-]+(\s+qid:\d+)?(\s+\d+:\S+)*\s*(#.*)?")

    def recognise(self, head: Head) -> bool:
        return all(self._LINE.fullmatch(line) for line in head.lines if not line.startswith(b"#"))

    def reader(self, spec: "InputSpec", names: "Names | None") -> "Reader":
        from steelyard.io.sparse_text import SvmlightReader

        return SvmlightReader(spec, names)
