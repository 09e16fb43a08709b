"""The report: one HTML page that needs no other file, the figures as SVG and PDF, the tables as CSV."""

from pathlib import Path

from paper.report.checking import check
from paper.report.output import Output
from paper.report.page import page
from paper.report.run import Run
from paper.report.sections import paragraphs
from paper.report.tables import as_csv

__all__ = ["Run", "write"]


def write(run: Run) -> Path:
    """Everything into the folder; returns the page, which is written last."""
    check(run)
    output = Output(run.store.folder, [f"tables/{table}.csv" for table in run.tables])
    output.text("tables/shown/text.csv", as_csv(("study", "paragraph", "text", "tables"), paragraphs(run)))
    path = output.text("report.html", page(run, output))
    output.finish()
    return path
