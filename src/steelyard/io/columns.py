"""`Columns`: the role of each column of a table, given or inferred, printed, and stored with the model.

A number column is one feature, `column`; a category one for each value, `column=value`; a text one
for each token, `column^token`. A missing number or category is the feature `column=missing`, a
missing text has no tokens.

Roles are inferred from the header and the first records; what the user says takes precedence. The
rules, in this order. A role that only one column can have goes to the first that fits.

- label: a name such as label, target, y, class or click; else the last or the first column, apart from ids
  and dates, if it has two values; else the only column that is not text. Otherwise none: the user has to say.
- weight: a name such as weight, importance or sample_weight, all its values numbers from 0 on.
- a column that is empty throughout, a date or time, the number of the row, a propensity: ignored.
  (A constant column is kept: it may change later, and costs little.)
- tag: a name such as id, all its values different. Further columns of that kind are ignored.
- number: all values are numbers; but codes, whole numbers in a column named …id or …code, are categories.
- text: a name such as text, title or comment; else many different values, long or of several words.
- category: all others.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from steelyard._messages import did_you_mean, listed
from steelyard._parameters import Message, Parameter
from steelyard.io.errors import InputError, has_decimal_comma

HEAD_RECORDS = 1000  # from which roles are inferred
HEAD_BYTES = 1 << 22  # and no more bytes than this

LABEL, WEIGHT, BASE, TAG, TEXT, CATEGORY, NUMBER, IGNORE = (
    "label", "weight", "base", "tag", "text", "category", "number", "ignore",
)  # fmt: skip
_SHOWN = {BASE: "offset"}  # files keep the older word
ROLES = (LABEL, WEIGHT, BASE, TAG, TEXT, CATEGORY, NUMBER, IGNORE)
FEATURES = (TEXT, CATEGORY, NUMBER)
SINGLE = (LABEL, WEIGHT, BASE, TAG)
BLANKS = " \t\n\v\f\r"  # which are trimmed from cells
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
        """That its features are named after."""
        return self.learned_as or self.name


@dataclass(frozen=True)
class Columns:
    """In the order of the table. At most one column each is the label, weight, base and tag."""

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
        """The same for files where the only text is in the column of this name."""
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
        """For JSON."""
        columns = [[column.name, column.role, column.why] for column in self.columns]
        return {"columns": columns, "missing": list(self.missing)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Columns":
        return cls(tuple(Column(*column) for column in stored["columns"]), tuple(stored["missing"]))


NAME_THE_TEXT = Message("if another one has the text, use ", Parameter("text", "NAME"))


class AbsentColumnError(InputError):
    """There is no column of this name."""

    name: str


def require(wanted: Iterable[str], names: Iterable[str], where: str = "") -> None:
    """Refuse names that are no columns, with a suggestion."""
    names = dict.fromkeys(names)
    for name in wanted:
        if name not in names:
            place = f"{where}: " if where else ""
            hint = did_you_mean(name, names)
            error = AbsentColumnError(f"{place}there is no column {name!r}{hint} (there are {listed(names)})")
            error.name = name
            raise error


LABEL_NAMES = (
    "label", "labels", "target", "y", "class", "outcome", "response", "click", "clicked", "is_spam", "spam",
    "survived", "churn", "churned", "is_fraud", "fraud", "converted", "sentiment", "diagnosis",
)  # fmt: skip
WEIGHT_NAMES = ("weight", "weights", "importance", "sample_weight", "instance_weight", "fnlwgt")
BASE_NAMES = ("base", "base_margin", "offset")
TAG_NAMES = ("id", "tag", "uid", "uuid", "guid", "row_id", "key")
TIME_NAMES = ("date", "time", "datetime", "timestamp", "created_at", "updated_at")
PROPENSITY_NAMES = ("propensity", "propensity_score")
TEXT_NAMES = (
    "text", "title", "abstract", "body", "message", "comment", "review", "description", "content", "subject",
    "summary", "headline", "question", "url",
)  # fmt: skip
_CODE = re.compile(r"(?i)(^|.*[^a-z])(id|code|zip|zipcode|postcode)$|.*(?-i:Id|ID|Code)$")
_DATE = re.compile(
    r"\d{4}-\d\d?-\d\d?([T ]\d\d?:\d\d.*)?$|\d{1,2}[/.]\d{1,2}[/.](\d\d|\d{4})( .*)?$|\d\d?:\d\d(:\d\d.*)?$"
)
_IDENTIFIER = re.compile(r"[0-9a-fA-F-]{16,}$")
SURE = 10  # records from which on it is no coincidence that all differ
RARE = 0.02  # of the values: so few that are no numbers may be typing errors
FEW = 0.1  # different values, as a share of the records: with no more it is a category; wrong weights


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

    def roles(self, names: Sequence[str]) -> dict[str, str]:
        """The role of each column that is named."""
        found: dict[str, str] = {}
        for field in fields(self):
            given = getattr(self, field.name)
            for name in [given] if isinstance(given, str) else given or ():
                require([name], names, field.name)
                if found.setdefault(name, field.name) != field.name:
                    raise InputError(f"column {name!r} cannot be both {found[name]} and {field.name}")
        return found


class ColumnSample:
    """Statistics of one column in the first records. `None` is a missing value."""

    def __init__(self, name: str, values: Sequence[str | None]) -> None:
        words = {word.lower() for word in MISSING}
        trimmed = [value.strip() for value in values if value is not None]
        self.name = name
        self.short = name.strip().lower().replace(" ", "_").replace("-", "_")
        self.values = [value for value in trimmed if value]
        self.different = set(self.values)
        present = [value for value in self.values if value.lower() not in words]
        self.odd = [value for value in present if not is_written_number(value)]
        """Values that are no numbers among numbers: typing errors, if they are rare."""
        self.nearly_numbers = 0 < len(self.odd) <= RARE * len(present)
        negative = sum(is_written_number(value) and float(value) < 0.0 for value in present)
        self.weights = bool(present) and len(self.odd) + negative <= FEW * len(present)
        self.numbers = bool(present) and not self.odd
        self.whole = self.numbers and all(re.fullmatch(r"[+-]?\d+", value) for value in present)
        self.unique = len(self.different) == len(self.values) > 1
        self.date = bool(self.values) and all(map(_DATE.match, self.values))
        self.identifier = self.unique and all(map(_IDENTIFIER.match, self.values))
        """Whether these are keys made by programs: long, hexadecimal, all different."""

    @property
    def counts_rows(self) -> bool:
        """0, 1, 2, … or 1, 2, 3, …"""
        if not (self.whole and self.unique and len(self.values) > SURE):
            return False
        first = int(self.values[0])
        following = range(first, first + len(self.values))
        return first in (0, 1) and [int(value) for value in self.values] == list(following)

    @property
    def text(self) -> bool:
        if self.numbers or self.nearly_numbers or not self.values or self.date:
            return False
        if self.short in TEXT_NAMES:
            return True
        if len(self.different) <= max(2, FEW * len(self.values)) or self.identifier:
            return False
        words = sum(len(value.split()) for value in self.different) / len(self.different)
        letters = sum(map(len, self.different)) / len(self.different)
        return words >= 3 or letters >= 20


def is_written_number(value: str) -> bool:
    """As the readers define it: no underscores, no NaN, no infinity."""
    return bool(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value))


def infer_roles(
    names: Sequence[str],
    records: Sequence[Sequence[str | None]],
    told: ColumnOverrides | None = None,
    by_type: Mapping[str, tuple[str, str]] | None = None,
) -> Columns:
    """The role of every column; each record has a value, or None, for each name.

    `by_type` has role and reason of columns whose values are of a type that decides it.
    """
    known = (told or ColumnOverrides()).roles(names)
    seen = [ColumnSample(name, [record[k] for record in records]) for k, name in enumerate(names)]
    free = [column for column in seen if column.name not in known]
    found = {name: Column(name, role, "as given") for name, role in known.items()}
    taken = set(known.values())
    for role, chosen in (
        (LABEL, _label(free)),
        (WEIGHT, _named(free, WEIGHT_NAMES, lambda column: column.weights)),
        (BASE, _named(free, BASE_NAMES, lambda column: column.numbers)),
        (TAG, _named(free, TAG_NAMES, lambda column: column.unique)),
    ):
        if role not in taken and chosen is not None and chosen[0].name not in found:
            found[chosen[0].name] = Column(chosen[0].name, role, chosen[1])
    for column in free:
        if column.name not in found:
            found[column.name] = Column(column.name, *_feature(column))
    for name, (role, why) in (by_type or {}).items():
        if name not in known:
            found[name] = Column(name, role, why)
    return Columns(tuple(found[name] for name in names))


def _named(
    seen: Sequence[ColumnSample], names: Sequence[str], fits: Callable[[ColumnSample], bool]
) -> tuple[ColumnSample, str] | None:
    """The first column that has one of the names, in the order of the names."""
    for name in names:
        for column in seen:
            if column.short == name and fits(column):
                return column, "by its name"
    return None


def _label(seen: Sequence[ColumnSample]) -> tuple[ColumnSample, str] | None:
    named = _named(seen, LABEL_NAMES, lambda column: not column.date)
    if named is not None:
        return named
    may_be = [c for c in seen if not (c.date or c.identifier or c.counts_rows or c.short in TAG_NAMES)]
    for column, place in ((may_be[-1:], "last"), (may_be[:1], "first")):
        if column and len(column[0].different) == 2:
            return column[0], f"the {place} column, of two values: " + ", ".join(sorted(column[0].different))
    no_texts = [column for column in may_be if not column.text]
    if len(no_texts) == 1 < len(may_be):
        return no_texts[0], "the only column that is not text"
    return None


def _feature(column: ColumnSample) -> tuple[str, str]:
    """(role, why) of a column with a role that several can have."""
    if not column.values:
        return IGNORE, "empty in the first records"
    if column.date or column.short in TIME_NAMES:
        return IGNORE, "a date or time"
    if column.counts_rows:
        return IGNORE, "the number of the row"
    if column.short in PROPENSITY_NAMES:
        return IGNORE, "a propensity; weight by its inverse"
    is_code = column.whole and _CODE.match(column.name) is not None
    if (
        len(column.values) > SURE
        and column.unique
        and (is_code or column.identifier or column.short in TAG_NAMES)
    ):
        return IGNORE, "different in every record"
    if column.numbers and not is_code:
        return NUMBER, "numbers"
    if column.nearly_numbers:
        return NUMBER, f"numbers, but for {shorten(column.odd[0])!r}"
    if column.text:
        return TEXT, f"for example {shorten(column.values[0])!r}"
    if sum(map(has_decimal_comma, column.values)) > len(column.values) / 2:
        example = next(filter(has_decimal_comma, column.values))
        return CATEGORY, f"{example!r} is not a number; {example.replace(',', '.')} would be"
    return CATEGORY, f"{len(column.different)} different, for example {shorten(column.values[0])!r}"


def shorten(value: str) -> str:
    return value if len(value) <= 30 else value[:29] + "…"
