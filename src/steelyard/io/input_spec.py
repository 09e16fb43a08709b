"""`InputSpec`: how files are read. Kept with a model, so that it reads later files alike."""

from dataclasses import dataclass, field
from typing import Any

from steelyard.examples import LARGEST
from steelyard.features.folding import Folding
from steelyard.features.interactions import Interactions, interactions
from steelyard.features.names import Names
from steelyard.features.tokens import TextOptions
from steelyard.io.arrow import ArrowTable
from steelyard.io.arrow_columns import TypedTable
from steelyard.io.columns import Columns
from steelyard.io.delimited import DelimitedText
from steelyard.io.dialects import Dialect
from steelyard.io.formats import FORMATS
from steelyard.io.jsonl import JsonLines
from steelyard.io.labels import LabelRule
from steelyard.io.stream import Format
from steelyard.io.svmlight import SvmlightText
from steelyard.io.vw import VwText

DEFAULT_BITS = 20
ARROW = ("arrow", "parquet")


@dataclass(frozen=True)
class InputSpec:
    """Format, the number of features (2^bits), interactions, and what the labels are called.

    Tables also have roles for their columns, and options for their texts; `propensities` says that
    the weight of a row is one over what stands in its weight column. All weights are multiplied by
    `weight_factor`. Files of ready-made rows have no columns to speak of; `original` is how the files
    were read that they were converted from.
    """

    format: str
    bits: int = DEFAULT_BITS
    interactions: tuple[str, ...] = ()
    label_rule: LabelRule | None = None
    dtype: str = "float32"
    columns: Columns | None = None
    dialect: Dialect | None = None
    text: TextOptions = field(default_factory=TextOptions)
    propensities: bool = False
    weight_factor: float = 1.0
    original: "InputSpec | None" = None

    def __post_init__(self) -> None:
        if self.format not in FORMATS or self.dtype not in LARGEST:
            raise ValueError(f"there is no format {self.format!r} or no type {self.dtype!r}")

    @property
    def features(self) -> int:
        return 1 << self.bits

    def reader(self, names: Names | None = None) -> Format:
        """The reader of that format; `names` collects what the features are called."""
        crossed = interactions(self.interactions)
        folding = Folding(self.bits, crossed, names)
        if self.format == "vw":
            return VwText(folding, crossed, self.dtype)
        if self.format == "svmlight":
            return SvmlightText(folding, self.dtype)
        if self.format in ARROW:
            return ArrowTable(self.features, self._typed(folding, crossed))
        assert self.columns is not None
        if self.format == "jsonl":
            return JsonLines(folding, self.columns, self.text, crossed, self.label_rule, self.dtype)
        assert self.dialect is not None
        return DelimitedText(
            folding, self.columns, self.dialect, self.text, crossed, self.label_rule, self.dtype
        )

    def _typed(self, folding: Folding, crossed: Interactions) -> TypedTable | None:
        if self.columns is None:
            return None
        return TypedTable(folding, self.columns, self.text, crossed, self.label_rule, self.dtype)

    def as_json(self) -> dict[str, Any]:
        return {
            "format": self.format,
            "bits": self.bits,
            "interactions": list(self.interactions),
            "label_rule": None if self.label_rule is None else self.label_rule.as_json(),
            "dtype": self.dtype,
            "columns": None if self.columns is None else self.columns.as_dict(),
            "dialect": None if self.dialect is None else self.dialect.as_dict(),
            "text": self.text.as_dict(),
            "propensities": self.propensities,
            "weight_factor": self.weight_factor,
            "original": None if self.original is None else self.original.as_json(),
        }


def from_json(stored: dict[str, Any]) -> InputSpec:
    """What `as_json` has written."""
    rule, columns, dialect = stored["label_rule"], stored["columns"], stored["dialect"]
    return InputSpec(
        format=stored["format"],
        bits=stored["bits"],
        interactions=tuple(stored["interactions"]),
        label_rule=None if rule is None else LabelRule.from_json(rule),
        dtype=stored["dtype"],
        columns=None if columns is None else Columns.from_dict(columns),
        dialect=None if dialect is None else Dialect(**dialect),
        text=TextOptions.from_dict(stored["text"]),
        propensities=stored["propensities"],
        weight_factor=stored.get("weight_factor", 1.0),
        original=None if stored["original"] is None else from_json(stored["original"]),
    )
