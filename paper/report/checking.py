"""Checks a report before it is written: every source must be a table, every link must have a target."""

from collections import Counter
from collections.abc import Iterator

from paper.report.markup import find_links
from paper.report.run import Run, split_names
from paper.study import Claim, Part, ReportFigure, ReportTable, Study, Verdict

OWN_PARTS = ("verdicts", "ours", "run")
"""Parts of the page that the report itself defines."""

OWN_TABLES = ("claims", "steps", "shown")
"""Names under tables/ that are reserved for the report."""


def check(run: Run) -> None:
    """Raise one error for everything that is wrong."""
    wrong = [f"{study.name}: {each}" for study in run.studies for each in _find_errors(run, study)]
    wrong += [
        f"{count} figures are named {name!r}"
        for name, count in Counter(_list_figures(run)).items()
        if count > 1
    ]
    numbers = Counter(claim.number for part in run.parts.values() for claim in part.claims if claim.number)
    wrong += [f"{count} claims have the number C{number}" for number, count in numbers.items() if count > 1]
    if wrong:
        raise ValueError("the report cannot be written:\n  " + "\n  ".join(wrong))


def _find_errors(run: Run, study: Study) -> Iterator[str]:
    part = run.parts[study.name]
    if study.name in OWN_PARTS:
        yield "this name is reserved for the report"
    for table in run.tables_of(study):
        if table in OWN_TABLES:
            yield f"a table may not be named {table!r}"
    for what, source in _sources(part):
        for name in split_names(source):
            if name not in run.tables:
                yield f"{what} is based on table {name!r}, which does not exist"
        if not split_names(source) and not what.startswith("table"):
            yield f"{what} has no source"
    for claim in part.claims:
        if claim.verdict in (Verdict.PARTLY, Verdict.FAILS) and not claim.why:
            yield f"claim {claim.says!r} does not hold, and gives no reason"
    for each in part.blocks:
        if isinstance(each, ReportTable) and any(len(row) != len(each.heads) for row in each.rows):
            yield f"table {each.caption!r} has rows that do not match its header"
    figures = [f"figure-{name}" for name in _list_figures(run)]
    anchors = {*OWN_PARTS, *(each.name for each in run.studies), *figures}
    for target in [target for text in _texts(part) for target in find_links(text)]:
        # with --only, a link may lead to a study that was left out
        if target not in anchors and not run.left_out:
            yield f"a link leads to #{target}, which does not exist"


def _sources(part: Part) -> Iterator[tuple[str, str]]:
    for claim in part.claims:
        yield f"claim {claim.says!r}", claim.source
    for each in part.blocks:
        if isinstance(each, ReportFigure):
            yield f"figure {each.name!r}", each.source
        elif isinstance(each, ReportTable):
            yield f"table {each.caption!r}", each.source


def _texts(part: Part) -> Iterator[str]:
    for each in part.blocks:
        yield each if isinstance(each, str) else each.caption
    for claim in part.claims:
        yield from _claim_texts(claim)


def _claim_texts(claim: Claim) -> tuple[str, ...]:
    return claim.where, claim.says, claim.paper, claim.ours, claim.why


def _list_figures(run: Run) -> list[str]:
    return [
        each.name for part in run.parts.values() for each in part.blocks if isinstance(each, ReportFigure)
    ]
