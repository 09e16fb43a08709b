"""Passive learning: Tables 3 and 4, Figures 2 and 3, and progressive figures against test accuracy."""

from paper.grids import Grid, Key, group_by_update, make_grids
from paper.studies.passive import best, progressive, robust, scatter, steps
from paper.study import Part, Row, Scope, Step, Study, Tables


class Passive(Study):
    """Every example has weight 1: the question is how much the learning rate matters."""

    name = "passive"
    title = "Passive learning: how much the learning rate matters"

    def steps(self, scope: Scope) -> list[Step]:
        return steps.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[steps.TABLE]
        found = _variant(rows, steps.AS_IS)
        others = {name: _variant(rows, name) for name in (steps.BIAS, steps.UNIT)}
        return Part(
            [
                _introduction(found),
                *best.blocks(found, others),
                *scatter.blocks(found),
                *robust.blocks(found, others),
                *progressive.blocks(found),
            ],
            [
                *best.claims(found, others[steps.UNIT]),
                *scatter.claims(found),
                *robust.claims(found),
                *progressive.claims(found),
            ],
        )


def _variant(rows: list[Row], variant: str) -> dict[Key, dict[str, Grid]]:
    return group_by_update(make_grids([row for row in rows if row["variant"] == variant]))


def _introduction(found: dict[Key, dict[str, Grid]]) -> str:
    one = next(iter(next(iter(found.values())).values()))
    shuffles, schedules = one.accuracy.shape
    tested = {place: next(iter(each.values())).tested for (place, _), each in found.items()}
    listed = ", ".join(f"{place} {count:,}" for place, count in tested.items())
    return (
        f"{schedules} schedules are tried for each loss and update: `learning_rate` from 2⁰ to 2¹⁰, "
        "`initial_t` from 10⁰ to 10⁸, `power_t` ½ and 1, the rate divided by x·x. Each learns the rows in "
        "one pass, except for the test rows: the official ones if there are any, else every fifth "
        f"(test rows: {listed}). Shuffles of the rows: {shuffles}; with several, tables give the mean, and "
        "in parentheses the smallest and the largest. There is no bias: the paper's formulas have none, and "
        "with rates that do not decay, a bias follows the last few labels. Tables below show the effect of a "
        "bias, and of scaling rows to length 1: where features are counts, the lengths of rows differ a lot."
    )
