"""The page as a whole. Its words and its HTML are in templates/; here is what goes into them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from paper import data
from paper.report import provenance
from paper.report.figures import save_figure
from paper.report.markup import remove_marks, to_html
from paper.report.output import Output
from paper.report.run import Run, split_names
from paper.report.sparks import describe_cases, draw_spark
from paper.report.tables import PageTable, format_csv, lay_out
from paper.study import Claim, ReportFigure, ReportTable, Study

_CLAIM_COLUMNS = ("claim", "study", "where", "says", "paper", "ours", "cases", "verdict", "why", "source")
_TEXT_COLUMNS = ("study", "paragraph", "text", "tables")


@dataclass(frozen=True)
class PageFigure:
    """A figure as the template takes it."""

    title: str
    figure: ReportFigure
    svg: Markup
    kind: str = "figure"


@dataclass(frozen=True)
class PageText:
    """A paragraph, with marks."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Section:
    """What a study has to say."""

    number: int
    name: str
    title: str
    of_paper: bool
    claims: Sequence[Claim]
    blocks: Sequence[PageText | PageFigure | PageTable]
    tables: Sequence[tuple[str, int]]
    """The names of its tables, and how many rows they have."""


def render_page(run: Run, output: Output) -> str:
    """The page; all other files of the report are written on the way."""
    output.write_text("tables/claims.csv", format_csv(_CLAIM_COLUMNS, list(_list_claims(run))))
    output.write_text("tables/shown/text.csv", format_csv(_TEXT_COLUMNS, list(_list_paragraphs(run))))
    provenance.write_steps(run, output)
    environment = Environment(
        loader=PackageLoader("paper.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "marks": to_html,
        "plain": remove_marks,
        "names": split_names,
        "spark": draw_spark,
    }
    sections = [
        _make_section(number, study, run, output) for number, study in enumerate(run.studies, start=1)
    ]
    claims = sorted(
        ((claim, section) for section in sections for claim in section.claims if claim.number),
        key=lambda each: each[0].number,
    )
    return environment.get_template("page.html.j2").render(
        run=run,
        sections=sections,
        claims=claims,
        counts=Counter(claim.verdict.name for claim, _ in claims),
        any_data=bool(data.digests_asked_for()),
        places=_list_places(),
        provenance=list(provenance.list_tables(run, output)),
    )


def _list_places() -> list[tuple[str, str, bool]]:
    """The data sets in use: place in the paper, name, and whether it is the original; originals first."""
    places = [(place, data.name(place), data.is_original(place)) for place in data.places_asked_for()]
    return sorted(places, key=lambda each: not each[2])


def _make_section(number: int, study: Study, run: Run, output: Output) -> Section:
    """Figures and tables of our own are numbered within it: "Figure 1" is the paper's."""
    part = run.parts[study.name]
    figures = tables = shown = 0
    blocks: list[PageText | PageFigure | PageTable] = []
    for block in part.blocks:
        if isinstance(block, ReportFigure):
            figures += not block.title
            title = block.title or f"Figure {number}.{figures}"
            blocks.append(PageFigure(title, block, save_figure(block, output)))
        elif isinstance(block, ReportTable):
            tables += not block.title
            shown += 1
            name, title = f"{study.name}-{shown}", block.title or f"Table {number}.{tables}"
            blocks.append(lay_out(output, name, block.heads, block.rows, block.caption, title, block.source))
        else:
            blocks.append(PageText(block))
    counts = [(name, len(run.tables[name])) for name in run.tables_of(study)]
    return Section(number, study.name, study.title, study.of_paper, part.claims, blocks, counts)


def _list_claims(run: Run) -> Iterator[list[str]]:
    """The paper's by number, then ours."""
    every = [(study.name, claim) for study in run.studies for claim in run.parts[study.name].claims]
    for study, claim in sorted(every, key=lambda each: each[1].number or len(every) + 1):
        which = f"C{claim.number}" if claim.number else "ours"
        cases = "" if claim.cases is None else describe_cases(claim.cases)
        texts = [claim.where, claim.says, claim.paper, claim.ours, cases, claim.verdict.value, claim.why]
        yield [which, study, *texts, _list_files(split_names(claim.source))]


def _list_paragraphs(run: Run) -> Iterator[list[str]]:
    """The text of all sections, each paragraph with the tables from which its numbers come."""
    for study in run.studies:
        files = _list_files(run.tables_of(study))
        texts = [block for block in run.parts[study.name].blocks if isinstance(block, str)]
        for number, text in enumerate(texts, start=1):
            yield [study.name, str(number), text, files]


def _list_files(tables: Sequence[str]) -> str:
    return " ".join(f"tables/{name}.csv" for name in tables)
