"""Figures as SVG and PDF files, and as SVG within the page."""

import re
from collections.abc import Callable
from html import escape

from paper.report.markup import plain
from paper.report.output import Output
from paper.study import Figure
from steelyard._atomic_files import replacing

_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Without its date, a picture drawn again is the same again."""


def saved(figure: Figure, output: Output) -> str:
    """Both files are written, with the caption as their title: whoever has the file alone can read it.

    Returns the picture as a piece of HTML.
    """
    label = plain(figure.caption)
    for suffix, undated in _UNDATED.items():
        path = output.path(f"figures/{figure.name}.{suffix}")
        with replacing(path) as temporary:
            figure.drawing.savefig(temporary, format=suffix, metadata={**undated, "Title": label})
    drawn = (output.folder / "figures" / f"{figure.name}.svg").read_text(encoding="utf-8")
    return inlined(drawn, figure.name, label)


def inlined(drawn: str, name: str, label: str) -> str:
    """An SVG file as a part of a page, where its names must be no other picture's."""
    drawn = drawn[drawn.index("<svg") :].rstrip()
    drawn = re.sub(r"\s*<(metadata|title)>.*?</\1>", "", drawn, flags=re.DOTALL)
    for pattern in (r'(\bid=")([^"]+)', r'(\bhref="#)([^"]+)', r"(url\(#)([^)]+)"):
        drawn = re.sub(pattern, _prefixed(name), drawn)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


def _prefixed(name: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}{name}-{found[2]}"
