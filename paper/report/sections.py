"""One section of the report: what a study tells, with numbered figures and tables."""

from collections.abc import Iterator
from html import escape

from paper.report import verdicts
from paper.report.markup import element, inline, link, plain
from paper.report.output import Output
from paper.report.pictures import saved
from paper.report.run import Run, names
from paper.report.tables import shown
from paper.study import Figure, Study, Table


def section(number: int, study: Study, run: Run, output: Output) -> Iterator[str]:
    """Figures and tables are numbered within it, so that "Figure 1" stays the paper's."""
    yield element("h2", f"{number}. {escape(study.title)}", id=study.name)
    yield verdicts.judged_in(study, run)
    figures = tables = 0
    for block in run.parts[study.name].blocks:
        if isinstance(block, Figure):
            figures += 1
            yield _figure(f"Figure {number}.{figures}", block, output)
        elif isinstance(block, Table):
            tables += 1
            yield _table(f"Table {number}.{tables}", f"{study.name}-{tables}", block, output)
        else:
            yield element("p", inline(block))
    files = " · ".join(
        f"{link(f'tables/{name}.csv', f'{name}.csv')} ({len(run.tables[name]):,})"
        for name in run.tables_of(study)
    )
    yield element("p", f"The rows behind this section: {files}.", class_="rows") if files else ""


def paragraphs(run: Run) -> list[list[str]]:
    """The text of all sections, each with the tables from which its numbers come."""
    return [
        [
            study.name,
            str(number),
            plain(block),
            " ".join(f"tables/{name}.csv" for name in run.tables_of(study)),
        ]
        for study in run.studies
        for number, block in enumerate(
            (block for block in run.parts[study.name].blocks if isinstance(block, str)), start=1
        )
    ]


def _figure(title: str, figure: Figure, output: Output) -> str:
    picture = element("div", saved(figure, output), class_="wide")
    files = f"{link(f'figures/{figure.name}.svg', 'SVG')}, {link(f'figures/{figure.name}.pdf', 'PDF')}"
    caption = f"<b>{title}.</b> {inline(figure.caption)} {_rows(figure.source)} · {files}"
    return element("figure", picture + element("figcaption", caption), id=f"figure-{figure.name}")


def _table(title: str, name: str, table: Table, output: Output) -> str:
    this = link(f"tables/shown/{name}.csv", "this table")
    rows = f"{_rows(table.source)} · {this}" if table.source else this
    caption = f"<b>{title}.</b> {inline(table.caption)} {rows}"
    return shown(output, name, table.heads, table.rows, caption)


def _rows(source: str) -> str:
    files = ", ".join(link(f"tables/{name}.csv", f"{name}.csv") for name in names(source))
    return f"Rows: {files}"
