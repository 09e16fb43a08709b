"""`Columns`: the role of each column of a table, given or inferred, printed, and stored with the model.

A number column is one feature, `column`; a category one for each value, `column=value`; a text one
for each token, `column^token`. A missing number or category is the feature `column=missing`, a
missing text has no tokens.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from steelyard._messages import did_you_mean, listed
from steelyard._parameters import Message, Parameter, bare
from steelyard.io.errors import InputError
from steelyard.token_rules import ASCII, bytes_in

LABEL, WEIGHT, BASE, TAG, TEXT, CATEGORY, NUMBER, IGNORE = (
    "label", "weight", "base", "tag", "text", "category", "number", "ignore",
)  # fmt: skip
_SHOWN = {BASE: "offset"}  # files keep the older word
ROLES = (LABEL, WEIGHT, BASE, TAG, TEXT, CATEGORY, NUMBER, IGNORE)
FEATURES = (TEXT, CATEGORY, NUMBER)
SINGLE = (LABEL, WEIGHT, BASE, TAG)
BLANKS = bytes_in(ASCII.blanks).decode()  # which are trimmed from cells
MISSING = ("NA", "N/A", "NaN", "null", "?")  # in any letter case; and the empty cell


@dataclass(frozen=True)
class Column:
    name: str
    role: str
    why: str = ""
    learned_as: str = ""
    """What it was called in the files that the model has learned, if something else."""

    @property
    def learned_name(self) -> str:
        """The name that its features begin with."""
        return self.learned_as or self.name


@dataclass(frozen=True)
class Columns:
    """The columns in the order of the table. At most one each is the label, weight, base and tag."""

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = MISSING

    def __post_init__(self) -> None:
        for name, times in Counter(self.names).items():
            if times > 1:
                raise InputError(f"{times} columns are called {name!r}: rename all but one of them")
        for role in SINGLE:
            if len(self.with_role(role)) > 1:
                raise InputError(f"{role}: one column at most, not {', '.join(self.with_role(role))}")
        for column in self.columns:
            if column.role not in ROLES:
                raise ValueError(f"{column.name}: {column.role!r} is none of {', '.join(ROLES)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def with_role(self, role: str) -> tuple[str, ...]:
        """The names of the columns with this role."""
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns that become features."""
        return tuple(column.name for column in self.columns if column.role in FEATURES)

    @property
    def renamed(self) -> tuple[str, ...]:
        """The names of the columns that are called otherwise than when the model learned."""
        return tuple(column.name for column in self.columns if column.learned_as)

    def with_text(self, name: str, model: str) -> "Columns":
        """The columns of files where the only text is in the column of this name."""
        texts = self.with_role(TEXT)
        if len(texts) != 1:
            listed = ", ".join(texts) or "none"
            said = f": {model} takes {len(texts)} texts ({listed}), not a single one"
            raise InputError(Parameter("text", name), said)
        if name in self.features and name not in texts:
            said = f": {model} takes this column for {self.role(name)}"
            raise InputError(Parameter("text", name), said)
        return replace(
            self,
            columns=tuple(
                replace(each, name=name, learned_as=each.learned_name) if each.role == TEXT else each
                for each in self.columns
                if each.role == TEXT or each.name != name
            ),
        )

    def role(self, name: str) -> str:
        require([name], self.names)
        return next(column.role for column in self.columns if column.name == name)

    def present(self, cells: Iterable[str | None]) -> list[str]:
        """The different cells, trimmed and sorted, without those that are missing or a word for that."""
        missing = {"", *(word.lower() for word in self.missing)}
        different = {cell.strip(BLANKS) for cell in cells if cell is not None}
        return sorted(cell for cell in different if cell.lower() not in missing)

    def describe(self) -> str:
        """A line for each column: name, role, and why."""
        names = max((len(name) for name in self.names), default=0)
        return "\n".join(
            f"{column.name:<{names}}  {_SHOWN.get(column.role, column.role):<8}  {column.why}".rstrip()
            for column in self.columns
        )

    def as_json(self) -> dict[str, Any]:
        """The columns as JSON."""
        columns = [[column.name, column.role, column.why] for column in self.columns]
        return {"columns": columns, "missing": list(self.missing)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Columns":
        return cls(tuple(Column(*column) for column in stored["columns"]), tuple(stored["missing"]))


NAME_THE_TEXT = Message("if another one has the text, use ", Parameter("text", "NAME"))


class AbsentColumnError(InputError):
    """There is no column of this name."""

    name: str


def require(wanted: Iterable[str], names: Iterable[str], where: str | Parameter = "") -> None:
    """Refuse names that are no columns, with a suggestion."""
    names = dict.fromkeys(names)
    for name in wanted:
        if name not in names:
            place = (where, ": ") if where else ()
            hint = did_you_mean(name, names)
            error = AbsentColumnError(
                *place, f"there is no column {name!r}{hint} (there are {listed(names)})"
            )
            error.name = name
            raise error


@dataclass(frozen=True)
class ColumnOverrides:
    """The roles that the user gives to columns, by name."""

    label: str | None = None
    weight: str | None = None
    base: str | None = None
    tag: str | None = None
    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    said_as: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What the user gave for a role, where that is called otherwise, such as `positives` for the label."""

    def roles(self, names: Sequence[str]) -> dict[str, str]:
        """The role of each column that is named."""
        found: dict[str, str] = {}
        for role in ROLES:
            given = getattr(self, role)
            for name in [given] if isinstance(given, str) else given or ():
                require([name], names, self._said(role))
                if found.setdefault(name, role) != role:
                    raise InputError(
                        f"column {name!r} cannot be both ", self._said(found[name]), " and ", self._said(role)
                    )
        return found

    def _said(self, role: str) -> Parameter:
        return bare(self.said_as.get(role) or _SHOWN.get(role, role))
