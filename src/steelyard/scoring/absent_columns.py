"""Columns of a model that JSON rows do not have: their features are absent, as if numbers were 0."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from steelyard._messages import counted
from steelyard._parameters import Message
from steelyard.io.blocks import ParsedBlock
from steelyard.io.columns import NAME_THE_TEXT, TEXT
from steelyard.io.input_spec import InputSpec
from steelyard.scoring.matching import JSON_LINES

_MOST_NAMES = 12  # of columns, in a message
_FEW_NAMES = 3
_LOOKED_AT = 10_000  # rows of a file: looking at all would take longer than to predict them


class AbsentColumnsWarning(UserWarning):
    """Rows of JSON lines lack columns of the model, whose features are then absent.

    Examples
    --------
    If an absent number is meant to be 0:

    >>> import warnings, steelyard
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", steelyard.AbsentColumnsWarning)
    """


class AbsentColumns:
    """Which columns lines lack; none where rows are no JSON. `finish` tells what was found by `add`."""

    def __init__(self, spec: InputSpec, tell: Callable[[str], None]) -> None:
        self._tell = tell
        tables = spec.columns is not None and spec.format == JSON_LINES
        self.columns = list(spec.columns.features) if spec.columns is not None and tables else []
        self._keys = [json.dumps(name, ensure_ascii=False).encode() + b":" for name in self.columns]
        self._only_text = spec.columns is not None and self.columns == list(spec.columns.with_role(TEXT))
        self._rows = self._lacking = self._without = 0
        self._names: Counter[str] = Counter()

    def of(self, line: bytes) -> list[str]:
        """The columns that a line does not have. Only a line that may lack one is decoded."""
        row: object = None
        if not all(key in line for key in self._keys):
            with suppress(ValueError, RecursionError):  # what the reader takes is not always strict JSON
                row = json.loads(line)
        return [name for name in self.columns if name not in row] if isinstance(row, dict) else []

    def problem_of(self, absent: Sequence[str]) -> str | None:
        """What is wrong with a row, if it has none of the columns."""
        if not absent or len(absent) < len(self.columns):
            return None
        return f"has none of the columns of the model: {_listed(absent, _MOST_NAMES)}"

    def add(self, absent: Sequence[str]) -> None:
        """Count a row."""
        self._rows += 1
        if absent:
            self._lacking += 1
            self._without += len(absent) == len(self.columns)
            self._names.update(absent)

    def watch(self, stream: Iterable[ParsedBlock]) -> Iterator[ParsedBlock]:
        """The stream, and when it ends, or is left, what was found in its first rows."""
        try:
            for parsed in stream:
                rest = _LOOKED_AT - self._rows
                if self.columns and rest > 0:
                    for line in parsed.block.text.tobytes().split(b"\n")[:-1][:rest]:
                        self.add(self.of(line))
                yield parsed
        finally:
            self.finish()

    def finish(self) -> None:
        """Tell it, if rows lacked columns."""
        if not self._lacking:
            return
        most = [name for name, _ in self._names.most_common(_FEW_NAMES + 1)]
        none = f", {self._without:,} of them all" if self._without and len(self.columns) > 1 else ""
        among = f" of the first {_LOOKED_AT:,}" if self._rows == _LOOKED_AT else ""
        lacked = f"{counted(self._lacking, 'row')}{among} lacked columns of the model "
        self._tell(Message(f"{lacked}({_listed(most, _FEW_NAMES)}){none}; ", self._advice()))

    def _advice(self) -> str:
        if not self._only_text:
            return "an absent number counts as 0: send null for what is not known"
        if self._without == self._rows:  # of a pipe: a file is refused beforehand
            return NAME_THE_TEXT
        return "rows without text all have the same prediction"


def _listed(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
