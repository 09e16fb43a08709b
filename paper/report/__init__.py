"""The report: one HTML page that needs no other file, the figures as SVG and PDF, the tables as CSV."""

from pathlib import Path

from paper.report.checking import check
from paper.report.output import Output
from paper.report.page import render_page
from paper.report.run import Run

__all__ = ["Run", "write"]


def write(run: Run) -> Path:
    """Write everything into the folder; returns the page, which is written last."""
    check(run)
    output = Output(run.store.folder, [f"tables/{table}.csv" for table in run.tables])
    path = output.write_text("report.html", render_page(run, output))
    output.finish()
    return path
