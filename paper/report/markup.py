"""From text to HTML. Whatever is text is escaped first, so that no word of it becomes markup by accident.

Of marks it knows **bold**, *italics*, `code` and [links](#part).

>>> inline("**1 < 2** and `a*b*c`")
'<b>1 &lt; 2</b> and <code>a*b*c</code>'
>>> plain("the **best**, see [above](#passive)")
'the best, see above'
"""

import re
from collections.abc import Iterator
from html import escape

_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\(((?:#|https://|tables/|figures/)[^)\s]*)\)")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\*)", re.DOTALL)
# A star between letters, or with a space on its inner side, is a star.
_ITALICS = re.compile(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])", re.DOTALL)


def inline(text: str) -> str:
    """A line of text as HTML."""
    pieces = _CODE.split(escape(text))
    return "".join(
        f"<code>{piece}</code>" if odd else _marked(piece)
        for odd, piece in zip(_alternating(), pieces, strict=False)
    )


def plain(text: str) -> str:
    """The same without marks, as it goes into a CSV file."""
    pieces = _CODE.split(text)
    return "".join(
        piece if odd else _ITALICS.sub(r"\1", _BOLD.sub(r"\1", _LINK.sub(r"\1", piece)))
        for odd, piece in zip(_alternating(), pieces, strict=False)
    )


def links(text: str) -> list[str]:
    """To which parts of the page a text refers."""
    return [target[1:] for _, target in _LINK.findall(text) if target.startswith("#")]


def element(tag: str, inside: str, **attributes: str) -> str:
    """HTML within a tag; an attribute named `class_` is a class, `data_head` is data-head."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items()
    )
    return f"<{tag}{given}>{inside}</{tag}>"


def link(target: str, text: str) -> str:
    return element("a", escape(text), href=target)


def _marked(text: str) -> str:
    text = _LINK.sub(r'<a href="\2">\1</a>', text)
    return _ITALICS.sub(r"<i>\1</i>", _BOLD.sub(r"<b>\1</b>", text))


def _alternating() -> Iterator[bool]:
    while True:
        yield False
        yield True
