"""Text with marks becomes HTML. It is escaped first, so that no word of it becomes markup by accident.

The marks are **bold**, *italics*, `code` and [links](#part).

>>> to_html("**1 < 2** and `a*b*c`")
Markup('<b>1 &lt; 2</b> and <code>a*b*c</code>')
>>> remove_marks("the **best**, see [above](#passive)")
'the best, see above'
"""

import re
from collections.abc import Callable
from html import escape
from itertools import cycle

from markupsafe import Markup

_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\(((?:#|https://|tables/|figures/)[^)\s]*)\)")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\*)", re.DOTALL)
# A star between letters, or with a space on its inner side, is a star.
_ITALICS = re.compile(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])", re.DOTALL)


def to_html(text: str) -> Markup:
    """A line of text as HTML."""
    return Markup(_convert(escape(text), "<code>{}</code>".format, _mark))


def remove_marks(text: str) -> str:
    """Text without marks, as it goes into a CSV file."""
    return _convert(text, str, lambda piece: _ITALICS.sub(r"\1", _BOLD.sub(r"\1", _LINK.sub(r"\1", piece))))


def find_links(text: str) -> list[str]:
    """The parts of the page that a text links to."""
    return [target[1:] for _, target in _LINK.findall(text) if target.startswith("#")]


def _convert(text: str, code: Callable[[str], str], other: Callable[[str], str]) -> str:
    """Code is taken as it is; marks count in all other pieces."""
    return "".join(convert(piece) for convert, piece in zip(cycle((other, code)), _CODE.split(text)))


def _mark(text: str) -> str:
    text = _LINK.sub(r'<a href="\2">\1</a>', text)
    return _ITALICS.sub(r"<i>\1</i>", _BOLD.sub(r"<b>\1</b>", text))
