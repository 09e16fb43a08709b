"""A certificate as a page for people: one file that needs no other, no network and no script."""

import math
from typing import Any

from steelyard.active.certification import Certification
from steelyard.active.sequential_tests import RecallTest, attempt_alpha

WIDTH, HEIGHT = 640.0, 200.0  # of the picture, in its own units


def render(found: Certification, name: str) -> str:
    """Fill the template; `name` is the file of the certificate. Every value is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only needed here

    environment = Environment(
        loader=PackageLoader("steelyard.active"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("certificate.html.j2").render(
        found=found, name=name, risk=attempt_alpha(found.alpha, found.attempt),
        recall=found.test if isinstance(found.test, RecallTest) else None, chart=_chart(found),
        draws=found.certificate()["draws"],
    )  # fmt: skip


def _chart(found: Certification) -> dict[str, Any] | None:
    """The evidence after each label, as logarithms, and where the test passes; None without any."""
    path = [value for value in found.evidence_path if not math.isnan(value)]
    if not path:
        return None
    wanted = -math.log(attempt_alpha(found.alpha, found.attempt))
    high, low = 1.15 * wanted, min(0.0, max(-wanted, min(path)))

    def place(value: float) -> float:
        return HEIGHT * (high - min(max(value, low), high)) / (high - low)

    points = [(0.0, place(0.0))]
    points += [(WIDTH * at / len(path), place(value)) for at, value in enumerate(path, 1)]
    return {
        "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points), "wanted": round(place(wanted), 1),
        "even": round(place(0.0), 1), "factor": math.exp(wanted), "labels": len(path),
    }  # fmt: skip
