"""Small pictures for the table of claims: how the cases went, and the paper's numbers beside ours."""

import math
from collections.abc import Sequence
from html import escape

from markupsafe import Markup

from paper.study import Claim, Pair, Tally

_WIDTH, _LEFT, _LINE, _BAR = 128.0, 46.0, 11.0, 7.0
_MARGIN = 5.0


def draw_spark(claim: Claim) -> Markup:
    """The numbers, if the paper gives some, above the bar of cases; nothing if there are neither."""
    parts, height, told = [], 0.0, []
    if claim.pairs:
        parts.append(_dots(claim.pairs))
        height += _LINE * len(claim.pairs) + 2.0
        told += [f"{each.label}: paper {each.paper:.3g}, here {each.ours:.3g}" for each in claim.pairs]
    if claim.cases is not None:
        parts.append(_bar(claim.cases, height))
        height += _BAR
        told.append(describe_cases(claim.cases))
    if not parts:
        return Markup("")
    label = escape("; ".join(told))
    return Markup(
        f'<svg class="spark" role="img" aria-label="{label}" width="{_WIDTH:g}" height="{height:g}" '
        f'viewBox="0 0 {_WIDTH:g} {height:g}">{"".join(parts)}</svg>'
    )


def describe_cases(cases: Tally) -> str:
    """Describe the cases in words, beside the bar and for those who cannot see it.

    >>> describe_cases(Tally(3, 0, 1))
    '3 for, 1 against'
    """
    named = ((cases.agree, "for"), (cases.ties, "not told apart"), (cases.against, "against"))
    return ", ".join(f"{count} {what}" for count, what in named if count)


def _bar(cases: Tally, top: float) -> str:
    total = cases.agree + cases.ties + cases.against
    counts = ((cases.agree, "agree"), (cases.ties, "tie"), (cases.against, "against"))
    pieces, x = [], 0.0
    for count, name in counts:
        width = _WIDTH * count / total
        if count:
            pieces.append(
                f'<rect class="{name}" x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{_BAR:g}"/>'
            )
        x += width
    return "".join(pieces)


def _dots(pairs: Sequence[Pair]) -> str:
    """A line for each pair: a ring for the paper, a dot for us, on one scale with a mark at "no difference".

    Ratios are on a logarithmic scale with the mark at 1; differences, some of them negative, with it at 0.
    What is no number on the scale, such as a ratio of something that never came about, sits at its end.
    """
    ratios = all(pair.paper > 0.0 for pair in pairs)
    scale = _log if ratios else float
    known = [scale(value) for pair in pairs for value in (pair.paper, pair.ours)]
    finite = [value for value in [*known, 0.0] if math.isfinite(value)]
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        x = min(max((scale(value) - low) / span, 0.0), 1.0)
        return _LEFT + _MARGIN + x * (_WIDTH - _LEFT - 2.0 * _MARGIN)

    mark = place(1.0 if ratios else 0.0)
    drawn = [f'<line class="mark" x1="{mark:.1f}" x2="{mark:.1f}" y1="0" y2="{_LINE * len(pairs):g}"/>']
    for number, pair in enumerate(pairs):
        y, ring, dot = _LINE * (number + 0.5), place(pair.paper), place(pair.ours)
        drawn.append(
            f'<text x="0" y="{y + 3.0:g}">{escape(pair.label)}</text>'
            f'<line class="gap" x1="{ring:.1f}" x2="{dot:.1f}" y1="{y:g}" y2="{y:g}"/>'
            f'<circle class="paper" cx="{ring:.1f}" cy="{y:g}" r="3"/>'
            f'<circle class="ours" cx="{dot:.1f}" cy="{y:g}" r="3"/>'
        )
    return "".join(drawn)


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf
