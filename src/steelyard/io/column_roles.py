"""Which column is what, guessed from the header and the first records; what the user says goes first.

The rules, in this order. A role that only one column can have goes to the first that fits.

- label: a name such as label, target, y, class or click; else a column of two values, the last one
  before the first before the others; else the last column that is neither text, date nor id.
- weight: a name such as weight, importance or sample_weight, all its values numbers from 0 on.
- a column that is empty throughout, a date or time, the number of the row, a propensity: ignored.
  (One that is constant is kept: it may change later, and costs little.)
- tag: a name such as id, all its values different. Further columns of that kind are ignored.
- number: all values are numbers; but codes, whole numbers in a column named …id or …code, are categories.
- text: a name such as text, title or comment; else many different values, long or of several words.
- category: all others.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from steelyard.io import columns as roles
from steelyard.io.columns import MISSING, Column, Columns, require
from steelyard.io.errors import InputError
from steelyard.io.problems import decimal_comma

LABEL_NAMES = (
    "label", "labels", "target", "y", "class", "outcome", "response", "click", "clicked", "is_spam", "spam",
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
SURE = 10  # records from which on it is no chance that all differ
RARE = 0.02  # of the values, for one that is no number to be a slip
FEW = 0.1  # different values, as a part of the records: what has no more is a category; wrong weights


@dataclass(frozen=True)
class ColumnOverrides:
    """What the user says about columns, by name."""

    label: str | None = None
    weight: str | None = None
    base: str | None = None
    tag: str | None = None
    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def roles(self, names: Sequence[str]) -> dict[str, str]:
        """The role of each column that is spoken of."""
        found: dict[str, str] = {}
        for field in fields(self):
            given = getattr(self, field.name)
            for name in [given] if isinstance(given, str) else given or ():
                require([name], names, field.name)
                if found.setdefault(name, field.name) != field.name:
                    raise InputError(f"column {name!r} cannot be both {found[name]} and {field.name}")
        return found


class Seen:
    """What the first records say about one column. `None` is a value that is missing."""

    def __init__(self, name: str, values: Sequence[str | None], missing: Sequence[str]) -> None:
        words = {word.lower() for word in missing}
        trimmed = [value.strip() for value in values if value is not None]
        self.name = name
        self.short = name.strip().lower().replace(" ", "_").replace("-", "_")
        self.values = [value for value in trimmed if value]
        self.different = set(self.values)
        present = [value for value in self.values if value.lower() not in words]
        self.odd = [value for value in present if not is_number(value)]
        """What is no number among numbers: a slip, if it is rare."""
        self.nearly_numbers = 0 < len(self.odd) <= RARE * len(present)
        negative = sum(is_number(value) and float(value) < 0.0 for value in present)
        self.weights = bool(present) and len(self.odd) + negative <= FEW * len(present)
        self.numbers = bool(present) and not self.odd
        self.whole = self.numbers and all(re.fullmatch(r"[+-]?\d+", value) for value in present)

    @property
    def two_valued(self) -> bool:
        return len(self.different) == 2

    @property
    def unique(self) -> bool:
        """Different in every record, as far as one can tell from a few."""
        return len(self.different) == len(self.values) > 1

    @property
    def counts_rows(self) -> bool:
        """0, 1, 2, … or 1, 2, 3, …"""
        if not (self.whole and self.unique and len(self.values) > SURE):
            return False
        first = int(self.values[0])
        return first in (0, 1) and [int(value) for value in self.values] == list(
            range(first, first + len(self.values))
        )

    @property
    def date(self) -> bool:
        return bool(self.values) and all(_DATE.match(value) for value in self.values)

    @property
    def identifier(self) -> bool:
        """Keys that programs make: long, hexadecimal, never the same."""
        return self.unique and all(_IDENTIFIER.match(value) for value in self.values)

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


def is_number(value: str) -> bool:
    """As the readers take them: no underscores, and NaN and infinity are none."""
    return bool(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value))


def guess(
    names: Sequence[str],
    records: Sequence[Sequence[str | None]],
    told: ColumnOverrides | None = None,
    missing: tuple[str, ...] = MISSING,
) -> Columns:
    """The role of every column; each record has a value, or None, for each name."""
    known = (told or ColumnOverrides()).roles(names)
    seen = [Seen(name, [record[k] for record in records], missing) for k, name in enumerate(names)]
    free = [column for column in seen if column.name not in known]
    found = {name: Column(name, role, "as told") for name, role in known.items()}
    taken = set(known.values())
    for role, chosen in (
        (roles.LABEL, _label(free)),
        (roles.WEIGHT, _named(free, WEIGHT_NAMES, lambda column: column.weights)),
        (roles.BASE, _named(free, BASE_NAMES, lambda column: column.numbers)),
        (roles.TAG, _named(free, TAG_NAMES, lambda column: column.unique)),
    ):
        if role not in taken and chosen is not None and chosen[0].name not in found:
            found[chosen[0].name] = Column(chosen[0].name, role, chosen[1])
    for column in free:
        if column.name not in found:
            found[column.name] = Column(column.name, *_feature(column))
    return Columns(tuple(found[name] for name in names), missing)


def _named(
    seen: Sequence[Seen], names: Sequence[str], fits: Callable[[Seen], bool]
) -> tuple[Seen, str] | None:
    """The first column that has one of the names, in the order of the names."""
    for name in names:
        for column in seen:
            if column.short == name and fits(column):
                return column, "by its name"
    return None


def _label(seen: Sequence[Seen]) -> tuple[Seen, str] | None:
    named = _named(seen, LABEL_NAMES, lambda column: not column.date)
    if named is not None:
        return named
    order = [*seen[-1:], *seen[:-1]]
    for column in order:
        if column.two_valued and not column.date:
            return column, "two values: " + ", ".join(sorted(column.different))
    for column in reversed(seen):
        if column.values and not (column.text or column.date or column.identifier or column.counts_rows):
            return column, "the last that can be one"
    return None


def _feature(column: Seen) -> tuple[str, str]:
    """(role, why) of a column that is none of the single ones."""
    if not column.values:
        return roles.IGNORE, "empty in the first records"
    if column.date or column.short in TIME_NAMES:
        return roles.IGNORE, "a date or time"
    if column.counts_rows:
        return roles.IGNORE, "the number of the row"
    if column.short in PROPENSITY_NAMES:
        return roles.IGNORE, "a propensity; weight by its inverse"
    is_code = column.whole and _CODE.match(column.name) is not None
    if (
        len(column.values) > SURE
        and column.unique
        and (is_code or column.identifier or column.short in TAG_NAMES)
    ):
        return roles.IGNORE, "different in every record"
    if column.numbers and not is_code:
        return roles.NUMBER, "numbers"
    if column.nearly_numbers:
        return roles.NUMBER, f"numbers, but for {shortened(column.odd[0])!r}"
    if column.text:
        return roles.TEXT, f"for example {shortened(column.values[0])!r}"
    if sum(map(decimal_comma, column.values)) > len(column.values) / 2:
        return roles.CATEGORY, _with_a_comma(column)
    return roles.CATEGORY, f"{len(column.different)} different, for example {shortened(column.values[0])!r}"


def _with_a_comma(column: Seen) -> str:
    example = next(filter(decimal_comma, column.values))
    return f"{example!r} is no number here, {example.replace(',', '.')} would be"


def shortened(value: str) -> str:
    return value if len(value) <= 30 else value[:29] + "…"
