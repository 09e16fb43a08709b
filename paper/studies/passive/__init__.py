"""Passive learning: Tables 3 and 4, Figures 2 and 3."""

from paper.feature_values import AS_PAPER, OTHER
from paper.grids import Grid, Key, group_by_update, make_grids
from paper.studies.passive import best, progressive, robust, scatter, steps
from paper.study import Part, Row, Scope, Step, Study, Tables


class Passive(Study):
    """Every example has weight 1: the question is how much the learning rate matters."""

    name = "passive"
    title = "Tables 3 and 4, Figures 2 and 3: passive learning"
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        return steps.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[steps.TABLE]
        variants = (AS_PAPER, steps.BIAS, steps.LINK, OTHER)
        by_variant = {name: [row for row in rows if row["variant"] == name] for name in variants}
        cells = {name: _cells(by_variant[name]) for name in variants}
        apart = {name: best.differences(by_variant[name]) for name in variants}
        found, others = cells[AS_PAPER], {name: cells[name] for name in variants[1:]}
        names = {str(row["place"]): str(row["data"]) for row in rows}
        second, third = scatter.figures(found, names)
        return Part(
            [
                _introduction(found),
                best.table(found, names, apart[AS_PAPER]),
                second,
                robust.table(found),
                third,
                "**Where the paper leaves a choice.** Labels are ±1 here. The paper’s formulas have no bias; "
                "it says that spam alone is not tf-idf; and it does not say whether squared loss has the [0, "
                "1] link in these experiments too. The tables show a bias, the link, and the other features.",
                best.others(others, apart),
                robust.by_set(found, others),
                progressive.table(found),
            ],
            [
                best.claim(found, names, apart[AS_PAPER], apart[OTHER]),
                scatter.claim(found),
                robust.claim(found),
                *progressive.claims(found),
            ],
        )


def _cells(rows: list[Row]) -> dict[Key, dict[str, Grid]]:
    return group_by_update(make_grids(rows))


def _introduction(found: dict[Key, dict[str, Grid]]) -> str:
    one = next(iter(next(iter(found.values())).values()))
    shuffles, schedules = one.accuracy.shape
    tested = {place: next(iter(each.values())).tested for (place, _), each in found.items()}
    listed = ", ".join(f"{place} {count:,}" for place, count in tested.items())
    return (
        f"All weights are 1. {schedules} schedules for each loss and update, η = μ/(x·x)·(τ/(t + τ))^p: μ "
        "from 2⁰ to 2¹⁰, τ from 10⁰ to 10⁸, p = ½ and 1; quantile loss with τ = ½; one pass; no bias; "
        "tf-idf, but for enron-spam, whose words are counted, as the paper's spam is. Test rows: the "
        f"official ones if there are any, else every fifth ({listed}). Shuffles: {shuffles}; with several, "
        "figures are means."
    )
