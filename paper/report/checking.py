"""A report that leads nowhere is not written: every source is a table, every link has its end."""

from collections import Counter
from collections.abc import Iterator

from paper.report.markup import find_links
from paper.report.run import Run, split_names
from paper.study import Claim, Part, ReportFigure, ReportTable, Study, Verdict

OWN_PARTS = ("verdicts", "run")
"""What the report itself may be linked at."""

OWN_TABLES = ("claims", "steps", "shown")
"""Names under tables/ that the report takes for itself."""


def check(run: Run) -> None:
    """Of all that is wrong at once."""
    wrong = [f"{study.name}: {each}" for study in run.studies for each in _wrong(run, study)]
    wrong += [
        f"{count} figures are named {name!r}" for name, count in Counter(_figures(run)).items() if count > 1
    ]
    if wrong:
        raise ValueError("the report cannot be written:\n  " + "\n  ".join(wrong))


def _wrong(run: Run, study: Study) -> Iterator[str]:
    part = run.parts[study.name]
    if study.name in OWN_PARTS:
        yield "this name is the report's own"
    for table in run.tables_of(study):
        if table in OWN_TABLES:
            yield f"a table may not be named {table!r}"
    for what, source in _sources(part):
        for name in split_names(source):
            if name not in run.tables:
                yield f"{what} rests on table {name!r}, which is none"
        if not split_names(source) and not what.startswith("table"):
            yield f"{what} has no source"
    for claim in part.claims:
        if claim.verdict in (Verdict.PARTLY, Verdict.FAILS) and not claim.why:
            yield f"claim {claim.says!r} does not hold, and there is no sentence why"
    for each in part.blocks:
        if isinstance(each, ReportTable) and any(len(row) != len(each.heads) for row in each.rows):
            yield f"table {each.caption!r} has rows of other lengths than its head"
    figures = [f"figure-{name}" for name in _figures(run)]
    anchors = {*OWN_PARTS, *(each.name for each in run.studies), *figures}
    for target in [target for text in _texts(part) for target in find_links(text)]:
        # a part that was not asked for this time may be referred to all the same
        if target not in anchors and not run.left_out:
            yield f"a link leads to #{target}, which is nowhere"


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
        yield from _said(claim)


def _said(claim: Claim) -> tuple[str, ...]:
    return claim.where, claim.says, claim.paper, claim.ours, claim.why


def _figures(run: Run) -> list[str]:
    return [
        each.name for part in run.parts.values() for each in part.blocks if isinstance(each, ReportFigure)
    ]
