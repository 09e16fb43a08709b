"""The claims of the paper, one a row, and what became of each here."""

from collections import Counter

from paper.report.markup import element, inline, link, plain
from paper.report.output import Output
from paper.report.run import Run, names
from paper.report.tables import as_csv
from paper.study import Claim, Study, Verdict

_SIGNS = {Verdict.HOLDS: "✓", Verdict.PARTLY: "◐", Verdict.FAILS: "✗", Verdict.NOTED: "·"}
_HEADS = ("where", "the paper says", "paper", "here", "verdict", "why", "rows")
_COLUMNS = ("study", "where", "says", "paper", "ours", "verdict", "why", "source")


def table(run: Run, output: Output) -> str:
    """All of them; also as tables/claims.csv."""
    rows = [
        [study.name, *_texts(claim), " ".join(f"tables/{name}.csv" for name in names(claim.source))]
        for study in run.studies
        for claim in run.parts[study.name].claims
    ]
    output.text("tables/claims.csv", as_csv(_COLUMNS, rows))
    head = element("thead", element("tr", "".join(element("th", each, scope="col") for each in _HEADS)))
    body = "".join(
        _heading(number, study)
        + "".join(_row(study, i, claim) for i, claim in enumerate(run.parts[study.name].claims, start=1))
        for number, study in enumerate(run.studies, start=1)
        if run.parts[study.name].claims
    )
    return element("div", element("table", head + element("tbody", body), class_="verdicts"), class_="wide")


def counted(run: Run) -> str:
    """A sentence."""
    found = Counter(claim.verdict for part in run.parts.values() for claim in part.claims)
    judged = sum(count for verdict, count in found.items() if verdict is not Verdict.NOTED)
    holds = ", ".join(
        f"**{found[verdict]}** {words}"
        for verdict, words in (
            (Verdict.HOLDS, "hold"),
            (Verdict.PARTLY, "hold in part"),
            (Verdict.FAILS, "do not hold here"),
        )
    )
    noted = (
        f" {found[Verdict.NOTED]} more are figures to note, without a claim to judge or with too little "
        "data for it."
        if found[Verdict.NOTED]
        else ""
    )
    return inline(f"Of {judged} claims {holds}.{noted}")


def judged_in(study: Study, run: Run) -> str:
    """The claims of one section, in short."""
    items = [
        element("li", f"{label(claim.verdict)} {link(f'#{_anchor(study, i)}', plain(claim.says))}")
        for i, claim in enumerate(run.parts[study.name].claims, start=1)
    ]
    return element("ul", "".join(items), class_="judged") if items else ""


def label(verdict: Verdict) -> str:
    """A sign, words and a colour: any one of them is enough."""
    return element("span", f"{_SIGNS[verdict]} {verdict.value}", class_=f"label {verdict.name.lower()}")


def _heading(number: int, study: Study) -> str:
    there = link(f"#{study.name}", f"{number}. {study.title}")
    return element("tr", element("th", there, colspan=str(len(_HEADS)), scope="rowgroup", class_="part"))


def _row(study: Study, number: int, claim: Claim) -> str:
    says, paper, ours, why = map(inline, (claim.says, claim.paper, claim.ours, claim.why))
    files = " ".join(_file(name) for name in names(claim.source))
    section = link(f"#{study.name}", plain(claim.where))
    cells = (section, says, paper, ours, label(claim.verdict), why, files)
    return element(
        "tr",
        "".join(element("td", cell, data_head=head) for head, cell in zip(_HEADS, cells, strict=True)),
        id=_anchor(study, number),
    )


def _file(table: str) -> str:
    """The column is narrow: a long name breaks at its underscores."""
    return element("a", f"{table}.csv".replace("_", "_<wbr>"), href=f"tables/{table}.csv")


def _anchor(study: Study, number: int) -> str:
    return f"claim-{study.name}-{number}"


def _texts(claim: Claim) -> list[str]:
    return [claim.where, claim.says, claim.paper, claim.ours, claim.verdict.value, claim.why]
