"""Charts as inline SVG. Their colours are in the page's style sheet, so that they suit light and dark."""

import math
from collections.abc import Sequence

from markupsafe import Markup

Point = tuple[float, float]
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 20.0, 10.0, 40.0
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Chart:
    """A plane with two axes; x may be logarithmic. Marks are added, then it is drawn."""

    def __init__(
        self, x: Point, y: Point, *, labels: tuple[str, str], alt: str, log: bool = False,
        percent: tuple[bool, bool] = (False, False), size: Point = (420.0, 300.0),
    ) -> None:  # fmt: skip
        self._x, self._y = _spread(*x), _spread(*y)
        self._labels, self._alt, self._log, self._percent, self._size = labels, alt, log, percent, size
        self._marks: list[Markup] = []

    def line(self, points: Sequence[Point], kind: str) -> None:
        """A line through the points; `kind` is its class in the style sheet."""
        path = " ".join(f"{self._place_x(x):.1f},{self._place_y(y):.1f}" for x, y in points)
        self._marks.append(Markup('<polyline class="line {}" points="{}"/>').format(kind, path))

    def dots(self, points: Sequence[Point], kind: str, sizes: Sequence[float] = ()) -> None:
        for number, (x, y) in enumerate(points):
            size = sizes[number] if sizes else 2.2
            self._marks.append(
                Markup('<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>').format(
                    kind, self._place_x(x), self._place_y(y), size
                )
            )

    def bars(self, edges: Sequence[float], heights: Sequence[float], kind: str) -> None:
        """Bars between neighbouring edges."""
        floor = self._place_y(self._y[0])
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            start, stop, top = self._place_x(left), self._place_x(right), self._place_y(height)
            self._marks.append(
                Markup('<rect class="bar {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
                    kind, start, top, max(stop - start - 1.0, 0.5), floor - top
                )
            )

    def draw(self) -> Markup:
        width, height = self._size
        right, floor = width - _RIGHT, height - _BOTTOM
        size = Markup('<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">')
        parts = [size.format(width, height, self._alt)]
        for tick in log_ticks(*self._x) if self._log else ticks(*self._x):
            x = self._place_x(tick)
            parts.append(_line("grid", x, _TOP, x, floor))
            parts.append(_text("tick", x, floor + 15.0, "middle", _show(tick, self._percent[0])))
        for tick in ticks(*self._y):
            y = self._place_y(tick)
            parts.append(_line("grid", _LEFT, y, right, y))
            parts.append(_text("tick", _LEFT - 5.0, y + 4.0, "end", _show(tick, self._percent[1])))
        parts += self._marks
        parts.append(_text("axis", (_LEFT + right) / 2, height - 6.0, "middle", self._labels[0]))
        turned = Markup('<g transform="translate(12,{:.1f}) rotate(-90)">{}</g>')
        parts.append(turned.format((_TOP + floor) / 2, _text("axis", 0.0, 0.0, "middle", self._labels[1])))
        return Markup("").join([*parts, Markup("</svg>")])

    def _place_x(self, x: float) -> float:
        low, high = self._x
        share = math.log(x / low) / math.log(high / low) if self._log else (x - low) / (high - low)
        return _LEFT + share * (self._size[0] - _LEFT - _RIGHT)

    def _place_y(self, y: float) -> float:
        low, high = self._y
        return self._size[1] - _BOTTOM - (y - low) / (high - low) * (self._size[1] - _TOP - _BOTTOM)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    shape = Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
    return shape.format(kind, x1, y1, x2, y2)


def _text(kind: str, x: float, y: float, anchor: str, text: str) -> Markup:
    shape = Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    return shape.format(kind, x, y, anchor, text)


def feature_bars(entries: Sequence[tuple[str, float]]) -> Markup:
    """Names with bars to the left or right of a middle line, in the order that is given."""
    most = max((abs(size) for _, size in entries), default=1.0) or 1.0
    shape = Markup(
        '<tr><th scope="row">{}</th><td class="bar-cell"><svg viewBox="-50 0 100 10" aria-hidden="true" '
        'preserveAspectRatio="none"><rect class="bar {}" x="{:.1f}" y="1" width="{:.1f}" height="8"/>'
        '<line class="middle" x1="0" x2="0" y1="0" y2="10"/></svg></td><td>{}</td></tr>'
    )
    rows = []
    for name, size in entries:
        kind, length = "first" if size > 0.0 else "second", 50.0 * size / most
        rows.append(shape.format(name, kind, min(length, 0.0), abs(length), f"{size:+.3g}"))
    return Markup('<table class="bars"><tbody>{}</tbody></table>').format(Markup("").join(rows))


def share_rows(entries: Sequence[tuple[str, float, Sequence[tuple[str, float]]]]) -> Markup:
    """Names, each with a bar for a share, and marks (a class and a share) for others, from 0 to 100 %."""
    rows = []
    for name, share, marks in entries:
        circle = Markup('<circle class="dot {}" cx="{:.1f}" cy="11" r="{}"/>')
        dots = Markup("").join(
            circle.format(kind, 300 * at, 8 if kind == "ring" else 5) for kind, at in marks
        )
        shape = Markup(
            '<tr><th scope="row">{}</th><td class="bar-cell"><svg viewBox="-10 0 320 22" role="img" '
            'aria-label="{}"><rect class="bar plain" x="0" y="5" width="{:.1f}" height="12"/>{}</svg></td>'
            "<td>{}</td></tr>"
        )
        said = ", ".join(f"{at:.0%}" for _, at in marks)
        rows.append(shape.format(name, f"{share:.0%}; {said}", 300 * share, dots, f"{share:.0%}"))
    return Markup('<table class="bars shares"><tbody>{}</tbody></table>').format(Markup("").join(rows))


def ticks(low: float, high: float) -> list[float]:
    """Four to eight round numbers between the two."""
    raw = (high - low) / 5.0
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * each for each in _STEPS if size * each >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten; where there are few, also twice and five times these."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1.0,) if len(powers) > 3 else (1.0, 2.0, 5.0)
    return [x for k in powers for f in factors if low <= (x := f * 10.0**k) <= high]


def _spread(low: float, high: float) -> Point:
    """A range that is not empty."""
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _show(value: float, percent: bool) -> str:
    return f"{value:.0%}" if percent else f"{value:,.6g}"
