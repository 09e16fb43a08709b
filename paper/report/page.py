"""The page as a whole: what it is, the verdicts, the sections, the end."""

from collections.abc import Iterator
from html import escape

from paper import data
from paper.report import provenance, verdicts
from paper.report.markup import element, inline, link
from paper.report.output import Output
from paper.report.run import Run
from paper.report.sections import section
from paper.report.style import STYLE

TITLE = "Online Importance Weight Aware Updates, reproduced"
WORDS = """\
An *update* is how a learner moves when it meets a row. The **explicit** one, or **multiplication**, \
takes the gradient times the weight, as is usual. The **implicit** and the **invariant** one are aware \
of the importance: the first takes the slope where the step ends, the second follows the slope all the \
way, as copies of the row would in ever smaller steps. A *schedule* is a learning rate and how it falls. \
A dash under *paper*: the claim is made in words, or we do not have the paper's figure; none was guessed."""


def page(run: Run, output: Output) -> str:
    pieces = [*_beginning(run, output)]
    for number, study in enumerate(run.studies, start=1):
        pieces += section(number, study, run, output)
    pieces.append(element("h2", "The run", id="run"))
    pieces += provenance.written(run, output)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(TITLE)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(piece for piece in pieces if piece)
        + "\n</body>\n</html>\n"
    )


def _beginning(run: Run, output: Output) -> Iterator[str]:
    yield element("h1", escape(TITLE))
    yield element(
        "p",
        inline(
            "Nikos Karampatziakis and John Langford showed in 2011 how an online learner can treat an "
            "example of importance weight *h* as *h* copies of it "
            "([arXiv:1011.1576](https://arxiv.org/abs/1011.1576)). These are their tables, figures and "
            "claims beside what steelyard finds on data."
        ),
        class_="lead",
    )
    for notice in _notices(run):
        yield element("p", inline(notice), class_="notice")
    yield element("p", f"Written {run.when:%Y-%m-%d %H:%M} UTC.", class_="when")
    yield element("nav", element("ul", "".join(element("li", link(*each)) for each in _contents(run))))
    yield element("h2", "The claims, and what became of them", id="verdicts")
    yield element("p", verdicts.counted(run))
    yield element("p", inline(WORDS))
    yield element("p", inline(_data()))
    yield verdicts.table(run, output)
    yield element(
        "p",
        inline(
            "The same as a file: [claims.csv](tables/claims.csv). Every table of this page lies in "
            "tables/shown/ as it is shown here, and so does the [text](tables/shown/text.csv); the rows from "
            "which the numbers come are the files linked beside them. “Figure 1” and “Table 3” without a dot "
            "are the paper's own; those of this page have a section's number, a dot and theirs."
        ),
        class_="rows",
    )


def _notices(run: Run) -> Iterator[str]:
    if run.scope.quick:
        yield (
            "**This is a quick run.** It has fewer shuffles, settings and rows behind each figure than the "
            "whole one, so its figures are rougher and a verdict may differ. The whole run is `make paper`."
        )
    if run.left_out:
        titles = "; ".join(run.left_out)
        yield f"**Only some studies were run** (`--only`). Not in this report: {titles}."


def _data() -> str:
    """Which names in the verdicts are the paper's sets, and which are others."""
    if not data.digests_asked_for():
        return "No data file was used."
    kinds = {place: (data.name(place), data.is_original(place)) for place in data.places_asked_for()}
    said = [f"**{name}** is the paper's {place}" for place, (name, original) in kinds.items() if original]
    said += [f"**{name}** stands in for {place}" for place, (name, original) in kinds.items() if not original]
    return f"The paper's data: {', '.join(said) or 'not used'}; more [at the end](#run)."


def _contents(run: Run) -> Iterator[tuple[str, str]]:
    yield "#verdicts", "The claims, and what became of them"
    for number, study in enumerate(run.studies, start=1):
        yield f"#{study.name}", f"{number}. {study.title}"
    yield "#run", "The run: command, time, seeds, data, versions"
