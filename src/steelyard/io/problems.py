"""What can be wrong with input, said with file and line and what to do about it."""

import re
from dataclasses import dataclass

from steelyard.text import lines

# What is wrong, and what to do; {0} is the place in the text, cut short
MESSAGES = {
    lines.BAD_LABEL: "the label {0!r} is not a number",
    lines.BAD_IMPORTANCE: "the importance {0!r} is not a number",
    lines.NEGATIVE_IMPORTANCE: "the importance {0!r} is negative: weights must be 0 or more",
    lines.BAD_BASE: "the base {0!r} is not a number",
    lines.TOO_MANY_NUMBERS: "{0!r}: there are more than label, importance and base before the first |; "
    "a tag begins with ' or touches the |",
    lines.NO_BAR: "there is no | in this line; is it Vowpal Wabbit text? (train's --format says what it is)",
    lines.BAD_VALUE: "{0!r}: the value after the : is not a number",
    lines.NOT_FINITE: "{0!r}: NaN and infinite values cannot be learned from",
    lines.TOO_LARGE: "{0!r}: the value is so large that its square overflows; scale it",
    lines.BAD_INDEX: "{0!r}: a feature must be index:value, the index a whole number of 0 or more",
    lines.NOT_UTF8: "not UTF-8 text; convert it first (iconv -f latin1 -t utf8)",
    lines.BAD_NAMESPACE_VALUE: "{0!r}: the weight after the namespace is not a number",
    lines.MISSING_FIELDS: "there are fewer fields than columns",
    lines.EXTRA_FIELDS: "there are more fields than columns; is a text with commas quoted, and is there "
    "no number with a decimal comma?",
    lines.OPEN_QUOTE: "a quoted field has no closing quote",
    lines.BAD_JSON: "{0!r}: not a JSON object",
    lines.BAD_NUMBER: "{0!r} is not a number; is it a category or text?",
    lines.STRAY_QUOTE: "{0!r}: after the closing quote the field must end; quotes within it are doubled",
    lines.NESTED: "{0!r}: only objects of numbers and lists of strings or numbers can be learned from; "
    "flatten it first, or ignore the column",
    lines.REPEATED_KEY: "{0!r}: the key comes twice in one object",
}


_NUMBERS = (lines.BAD_LABEL, lines.BAD_IMPORTANCE, lines.BAD_BASE, lines.BAD_NUMBER)
POINTS = "numbers have a decimal point here, as in 3.14, not a comma"


@dataclass(frozen=True)
class Problem:
    """One line, or row of a table, that cannot be read."""

    path: str
    line: int
    what: str
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.path}, {self.unit} {self.line}: {self.what}"


def describe(code: int, excerpt: bytes) -> str:
    """What the reader of lines has noted, in words."""
    text = excerpt.decode("utf-8", "replace")
    said = MESSAGES[code].format(text)
    if code in _NUMBERS and decimal_comma(text):
        return f"{said.partition(';')[0]}: {POINTS}"
    return said


def decimal_comma(text: str) -> bool:
    """Whether it would be a number if its comma were a point."""
    return re.fullmatch(r"\s*[+-]?\d*,\d+\s*", text) is not None
