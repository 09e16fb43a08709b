"""Slips of the paper, each with its numbers; and C13, the growth of weights."""

from collections.abc import Sequence

from paper import printed
from paper.grids import group_by_update, make_grids
from paper.studies import slips_steps
from paper.studies.passive.steps import TABLE as PASSIVE
from paper.studies.safety.theorem import LENGTHS
from paper.studies.safety.theorem import TABLE as THEOREM
from paper.studies.slips_steps import C0, QUERIES, SLIPS, TIMES
from paper.study import Claim, Part, ReportTable, Row, Scope, Step, Study, Tables
from paper.verdicts import judge, tally

SAME = 3.0
"""1/P counts as proportional to 1/η if their ratio changes by less than this factor over four decades of "
"t."""


class Slips(Study):
    """What is wrong in print, and does not touch the substance but for the bound of Theorem 3."""

    name = SLIPS
    title = "Slips in the paper, with their evidence"
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        return slips_steps.steps()

    def part(self, tables: Tables, scope: Scope) -> Part:
        found, queries = tables[SLIPS], tables[QUERIES]
        heads = ["", "where", "as printed", "what is right", "evidence"]
        rows = [[str(number), *row] for number, row in enumerate(_slips(found, queries, tables), start=1)]
        caption = "Checked numerically. Only the sixth changes a result."
        source = " ".join([SLIPS, QUERIES, *(name for name in (THEOREM, PASSIVE) if name in tables)])
        return Part([ReportTable(heads, rows, caption, source)], [_weights(queries)])


def _slips(found: Sequence[Row], queries: Sequence[Row], tables: Tables) -> list[list[str]]:
    return [
        ["App. E", "ω₀ and ω₁ of the tanh link", "exchanged", _formulas(found, "tanh")],
        ["Table 1, App. D", "the hinge step is y·min(u, 1 − yp)", "0 past the margin, as §3.1.1 says",
         _formulas(found, "hinge")],
        ["Table 1", "Imp² is not closed for exponential, logarithmic, Hellinger loss",
         "closed: Lambert's W, a quadratic, a cubic", _checks(found, "closed")],
        ["App. F", "no general flip importance for Imp²", "u = −Δ/ℓ′(p + Δ)", _checks(found, "flip")],
        ["Thm 2", "asks for C¹ losses, which hinge and quantile are not", "convex is enough",
         _checks(found, "smooth")],
        ["Thm 3", "O(log T) with η = 1/t in any dimension", "in one dimension only", _theorem(tables)],
        ["Thm 3", "the effective step is 1 − e^−η", "(1 − e^−2η)/2 for (p − y)²; the orders stay",
         _formulas(found, "step")],
        ["§6, Figs. 2, 3", "hardly any lead above 0.1 among points above 0.9 in both",
         "must mean all schedules", "0.9 < a, b ≤ 1, so |a − b| < 0.1 always"],
        ["Table 3", "spam, logistic, invariant: 0.96676", "a misprint? the text says new updates win",
         _misprint(tables)],
        ["§6", "weights grow like 1/η", "only where η ∝ 1/t", _growth(queries)],
    ]  # fmt: skip


def _formulas(found: Sequence[Row], slip: str) -> str:
    return "; ".join(
        f"{row['quantity']}: printed {float(row['printed']):.4g}, right {float(row['right']):.4g}"
        for row in found
        if row["slip"] == slip
    )


def _checks(found: Sequence[Row], slip: str) -> str:
    rows = [row for row in found if row["slip"] == slip]
    what = str(rows[0]["quantity"]).partition(": ")[2]
    names = ", ".join(str(row["quantity"]).partition(":")[0] for row in rows)
    return f"{what} ({names}): {max(float(row['right']) for row in rows):.0e} at most"


def _theorem(tables: Tables) -> str:
    """The result of the section on regret, where it was run."""
    regrets = {
        (str(row["rate"]), int(row["length"])): float(row["regret"])
        for row in tables.get(THEOREM, [])
        if row["stream"] == "two halves"
    }
    if not regrets:
        return "x = e₁ for half of the time, then e₂, labels 1: see the section on regret"
    return (
        f"x = e₁ for half of the time, then e₂, labels 1, T = {LENGTHS[0]:,} to {LENGTHS[-1]:,}: regret "
        + ", ".join(f"{regrets['1/t', length]:,.0f}" for length in LENGTHS)
        + " with 1/t; "
        + ", ".join(f"{regrets['1/√t', length]:,.0f}" for length in LENGTHS)
        + " with 1/√t"
    )


def _misprint(tables: Tables) -> str:
    cells = printed.TABLE_3["spam", "logistic"]
    said = f"beside it Imp² {cells.implicit:.5f}, standard {cells.explicit:.5f}"
    rows = [row for row in tables.get(PASSIVE, []) if row["place"] == "spam" and row["loss"] == "logistic"]
    if not rows:
        return said
    variant = rows[0]["variant"]
    (each,) = group_by_update(make_grids([row for row in rows if row["variant"] == variant])).values()
    ours = ", ".join(f"{printed.NAMES[name]} {grid.best().mean():.4f}" for name, grid in each.items())
    return f"{said}; here {ours}"


def _ratios(queries: Sequence[Row], power: float, constants: str = "practice") -> list[float]:
    """(1/P) ÷ (1/η), at each t."""
    return [
        float(row["rate"]) / float(row["probability"])
        for row in queries
        if row["power"] == power and row["constants"] == constants
    ]


def _growth(queries: Sequence[Row]) -> str:
    chances = [
        f"{float(row['probability']):.2g}"
        for row in queries
        if row["power"] == 0.5 and row["constants"] == "practice" and row["t"] in (TIMES[0], TIMES[-1])
    ]
    return f"η ∝ 1/√t, |p| = 1, C₀ = {C0:g}: P goes from {chances[0]} at t = 10³ to {chances[1]} at 10⁷"


def _weights(queries: Sequence[Row]) -> Claim:
    """C13."""
    changes = {
        (power, constants): max(ratios) / min(ratios)
        for power in (0.5, 1.0)
        for constants in ("theory", "practice")
        for ratios in [_ratios(queries, power, constants)]
    }
    cases = tally(1 if change < SAME else -1 for change in changes.values())
    rows = {
        float(row["power"]): row
        for row in queries
        if row["constants"] == "practice" and row["t"] == TIMES[-1]
    }
    weights = {power: 1.0 / float(row["probability"]) for power, row in rows.items()}
    return Claim(
        "§6",
        "The active learner makes weights of order 1/η, so growing at least like √t.",
        "argued",
        f"t from 10³ to 10⁷ at |p| = 1: η/P changes {changes[1.0, 'practice']:.1f}-fold with η ∝ 1/t, "
        f"{changes[0.5, 'practice']:.0f}-fold with 1/√t, where 1/P stays near {weights[0.5]:.0f}",
        judge(cases),
        "P ≈ C₀·log t·t·η²/T(p)²: of order η only where η ∝ 1/t.",
        QUERIES,
        13,
        cases,
    )
