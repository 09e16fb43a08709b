"""`InputSpec`: how files are read. Stored with a model, so that it reads later files alike."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.examples import LARGEST
from steelyard.features.tokens import TextOptions
from steelyard.io import formats
from steelyard.io.columns import Columns
from steelyard.io.labels import LabelRule

if TYPE_CHECKING:  # readers are imported when they are used
    from steelyard.features.names import Names
    from steelyard.io.stream import Reader

DEFAULT_BITS = 20


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written. Without a header the columns are called 1, 2, 3, …"""

    separator: str = ","
    header: bool = True
    quoting: bool = True

    def __post_init__(self) -> None:
        if len(self.separator.encode()) != 1 or self.separator in '"\r\n' or self.separator.isalnum():
            raise ValueError(
                f"the separator {self.separator!r} must be a single ASCII character, no letter or digit"
            )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def byte(self) -> int:
        return ord(self.separator)


@dataclass(frozen=True)
class InputSpec:
    """Format, number of features (2^bits), interactions, and the names of the classes.

    Tables also have the roles of their columns and options for their texts. With `propensities` the
    weight of a row is one over the value in its weight column. All weights are multiplied by
    `weight_factor`. Converted files have no columns; `original` is how the files were read that they
    were converted from.
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
        if self.format not in formats.names() or self.dtype not in LARGEST:
            raise ValueError(f"there is no format {self.format!r} or no type {self.dtype!r}")

    @property
    def features(self) -> int:
        return 1 << self.bits

    @property
    def converted(self) -> bool:
        """Whether the files hold sparse rows, as `steelyard convert` writes them."""
        return self.columns is None and formats.by_name(self.format).binary

    def reader(self, names: "Names | None" = None) -> "Reader":
        """The reader of that format; `names` collects the names of features."""
        return formats.by_name(self.format).reader(self, names)

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
    """The inverse of `as_json`."""
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
