"""`Columns`: what each column of a table is for. It is told or guessed, printed, and kept with the model.

A number column is one feature, `column`; a category one for each value, `column=value`; a text one
for each token, `column^token`. A number or category that is missing is the feature
`column=missing`, a text that is missing has no tokens.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from steelyard._messages import did_you_mean
from steelyard.io.errors import InputError

LABEL, WEIGHT, BASE, TAG, TEXT, CATEGORY, NUMBER, IGNORE = (
    "label", "weight", "base", "tag", "text", "category", "number", "ignore",
)  # fmt: skip
ROLES = (LABEL, WEIGHT, BASE, TAG, TEXT, CATEGORY, NUMBER, IGNORE)
FEATURES = (TEXT, CATEGORY, NUMBER)
SINGLE = (LABEL, WEIGHT, BASE, TAG)
MISSING = (
    "NA",
    "N/A",
    "NaN",
    "null",
    "?",
)  # in number columns, in large or small letters; and the empty cell


@dataclass(frozen=True)
class Column:
    name: str
    role: str
    why: str = ""


@dataclass(frozen=True)
class Columns:
    """In the order of the table. At most one column each is label, weight, base and tag."""

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = MISSING

    def __post_init__(self) -> None:
        for name, times in Counter(self.names).items():
            if times > 1:
                raise InputError(f"{times} columns are called {name!r}: rename all but one of them")
        for role in SINGLE:
            if len(self.of(role)) > 1:
                raise InputError(f"{role}: one column at most, not {', '.join(self.of(role))}")
        for column in self.columns:
            if column.role not in ROLES:
                raise ValueError(f"{column.name}: {column.role!r} is none of {', '.join(ROLES)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def of(self, role: str) -> tuple[str, ...]:
        """The names of the columns with this role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def role(self, name: str) -> str:
        require([name], self._roles)
        return self._roles[name]

    def present(self, cells: Iterable[str]) -> list[str]:
        """The cells that are neither empty nor a word for a missing value, sorted."""
        missing = {"", *(word.lower() for word in self.missing)}
        return sorted({cell for cell in cells if cell.lower() not in missing})

    @cached_property
    def _roles(self) -> dict[str, str]:
        return {column.name: column.role for column in self.columns}

    def describe(self) -> str:
        """A line for each column: name, role, and why."""
        names = max((len(name) for name in self.names), default=0)
        return "\n".join(
            f"{column.name:<{names}}  {column.role:<8}  {column.why}".rstrip() for column in self.columns
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        columns = [[column.name, column.role, column.why] for column in self.columns]
        return {"columns": columns, "missing": list(self.missing)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Columns":
        return cls(tuple(Column(*column) for column in stored["columns"]), tuple(stored["missing"]))


def require(wanted: Iterable[str], names: Iterable[str], where: str = "") -> None:
    """Refuse names that are no columns, in words that help."""
    names = dict.fromkeys(names)
    for name in wanted:
        if name not in names:
            place = f"{where}: " if where else ""
            hint = did_you_mean(name, names)
            raise InputError(f"{place}there is no column {name!r}{hint} (there are {', '.join(names)})")
