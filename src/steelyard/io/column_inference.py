"""The roles of columns, inferred from the header and the first records of a table.

What the user says takes precedence. These are the rules, in their order; a role that only one column can have
goes to the first that fits.

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
from collections.abc import Callable, Mapping, Sequence

from steelyard.io import columns as roles
from steelyard.io.columns import Column, ColumnOverrides, Columns
from steelyard.io.errors import has_decimal_comma

HEAD_RECORDS = 1000  # from which roles are inferred
HEAD_BYTES = 1 << 22  # and no more bytes than this
WRITTEN_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"

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


def is_written_number(value: str) -> bool:
    """Whether readers take it for a number: without underscores, NaN and infinity."""
    return bool(re.fullmatch(WRITTEN_NUMBER, value))


class ColumnSample:
    """Statistics of one column in the first records. `None` is a missing value."""

    def __init__(self, name: str, values: Sequence[str | None]) -> None:
        words = {word.lower() for word in roles.MISSING}
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
        return roles.NUMBER, f"numbers, but for {shorten(column.odd[0])!r}"
    if column.text:
        return roles.TEXT, f"for example {shorten(column.values[0])!r}"
    if sum(map(has_decimal_comma, column.values)) > len(column.values) / 2:
        example = next(filter(has_decimal_comma, column.values))
        return roles.CATEGORY, f"{example!r} is not a number; {example.replace(',', '.')} would be"
    return roles.CATEGORY, f"{len(column.different)} different, for example {shorten(column.values[0])!r}"


def shorten(value: str) -> str:
    return value if len(value) <= 30 else value[:29] + "…"
