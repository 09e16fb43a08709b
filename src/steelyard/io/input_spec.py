"""`InputSpec`: how files are read. Stored with a model, so that it reads later files alike."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard import _field_types
from steelyard.examples import LARGEST
from steelyard.io import columns as roles
from steelyard.io import formats
from steelyard.io.columns import Columns
from steelyard.io.errors import InputError
from steelyard.io.labels import LabelRule
from steelyard.io.namespaces import NamespaceOptions
from steelyard.text import hashing
from steelyard.text.tokens import TextOptions

if TYPE_CHECKING:  # readers are imported when they are used
    from steelyard.features import Names
    from steelyard.io.stream import Reader

DEFAULT_BITS, MOST_BITS = 20, 32


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

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def byte(self) -> int:
        return ord(self.separator)


@dataclass(frozen=True)
class InputSpec:
    """Format, number of features (2^bits), interactions, and the names of the classes.

    Tables also have the roles of their columns and options for their texts. With `propensities` the
    weight of a row is one over the value in its weight column. All weights are multiplied by
    `weight_factor`. Where `counted`, a row stands for as many examples as its weight says, of which as many
    are positive as its label says. `namespaces` says what is made of those of Vowpal Wabbit's text. Converted
    files have no columns; `original` is how the files were read that they were converted from.
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
    counted: bool = False
    namespaces: NamespaceOptions | None = None
    original: "InputSpec | None" = None
    encoding: str | None = None
    """The encoding of text files; None: UTF-8, or what their first bytes say."""

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

    def weight_scale(self, wanted: str) -> str:
        """How weights are scaled: not at all where the user has said what they are."""
        return "as_given" if self.counted or self.weight_factor != 1.0 else wanted

    def features_with_own_units(self) -> NDArray[np.int64] | None:
        """The numbers of tables that have texts; None: of every feature nothing is known beforehand.

        Tokens of a text, categories and missing cells have one unit, 1, for all of them. (Not products of
        them with numbers, so nothing is said where there are interactions.)
        """
        spec = self.original or self
        texts = spec.columns is not None and spec.columns.with_role(roles.TEXT)
        if spec.columns is None or not texts or spec.interactions or spec.text.repeated != "relative":
            return None
        keys = [hashing.column_key(name) for name in spec.columns.with_role(roles.NUMBER)]
        return np.array(keys, np.int64) & (self.features - 1)

    def reader(self, names: "Names | None" = None) -> "Reader":
        """The reader of that format; `names` collects the names of features."""
        spec = replace(self, label_rule=None) if self.counted else self  # its labels are numbers
        return formats.by_name(self.format).reader(spec, names)

    def as_json(self) -> dict[str, Any]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["interactions"] = list(self.interactions)
        for newer in ("namespaces", "encoding", "counted"):
            if not values[newer]:
                del values[newer]  # states of sweeps from before there were any compare equal
        return {name: each.as_json() if hasattr(each, "as_json") else each for name, each in values.items()}


def from_json(stored: dict[str, Any]) -> InputSpec:
    """The inverse of `as_json`. Older files have no factor of weights, options of namespaces and encoding."""
    stored = {"weight_factor": 1.0, "namespaces": None, "encoding": None, "counted": False, **stored}
    values = {each.name: stored[each.name] for each in fields(InputSpec)}
    for name, read in _PARTS.items():
        if values[name] is not None:
            values[name] = read(values[name])
    spec = InputSpec(**values)
    _field_types.check(spec)
    found = formats.by_name(spec.format)
    if spec.columns is None and found.table and not found.binary:
        raise ValueError(f"{spec.format} without columns")
    if not (1 <= spec.bits <= MOST_BITS and spec.weight_factor > 0.0):
        raise ValueError(f"2^{spec.bits} features, and weights times {spec.weight_factor}")
    return spec


def stored_in(path: str | Path, stored: Any) -> InputSpec:
    """Read a spec that this file holds; an InputError if it makes no sense."""
    try:
        return from_json(dict(stored))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: damaged: how rows are to be read makes no sense ({error!r})") from None


_PARTS: dict[str, Callable[[Any], Any]] = {
    "interactions": tuple,
    "label_rule": LabelRule.from_json,
    "columns": Columns.from_json,
    "dialect": lambda stored: Dialect(**stored),
    "text": TextOptions.from_json,
    "namespaces": NamespaceOptions.from_json,
    "original": from_json,
}
