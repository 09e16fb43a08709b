"""Figures as SVG and PDF files, and as SVG within the page."""

import re
from collections.abc import Callable
from html import escape

from markupsafe import Markup

from paper.report.markup import remove_marks
from paper.report.output import Output
from paper.study import ReportFigure
from steelyard.plotting import write_figure


def save_figure(figure: ReportFigure, output: Output) -> Markup:
    """Write both files, with the caption as their title, so that each can be read on its own.

    Returns the figure as a piece of HTML.
    """
    label = remove_marks(figure.caption)
    for suffix in ("pdf", "svg"):
        path = output.new_path(f"figures/{figure.name}.{suffix}")
        write_figure(figure.drawing, path, Title=label)
    return inline_svg(path.read_text(encoding="utf-8"), figure.name, label)


def inline_svg(svg: str, name: str, label: str) -> Markup:
    """An SVG file as a part of a page, with ids that no other figure has."""
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r"\s*<(metadata|title)>.*?</\1>", "", svg, flags=re.DOTALL)
    for pattern in (r'(\bid=")([^"]+)', r'(\bhref="#)([^"]+)', r"(url\(#)([^)]+)"):
        svg = re.sub(pattern, _prefix(name), svg)
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1))


def _prefix(name: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{match[1]}{name}-{match[2]}"
