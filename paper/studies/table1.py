"""Table 1: the updates of each loss as formulas, checked against their definitions."""

from collections.abc import Sequence
from dataclasses import dataclass

from paper.studies.weighted import certificates
from paper.studies.weighted.certificates import PUSHES, TABLE
from paper.studies.weighted.summaries import explain_verdict, select_rows
from paper.study import Claim, Part, ReportTable, Row, Scope, Step, Study, Tables, Verdict
from steelyard import losses

EXACT = 1e-11
"""The largest deviation at which a formula counts as right: the rounding of the checks."""

SETTING = """
A linear model predicts p = w·x. With a learning rate η, a row of weight h pushes its own prediction by u =
h·η·(x·x), where the rate is constant, and whatever the update, w moves along x: by Δ·x/(x·x), if p is to
move by Δ. So an update is a formula for Δ. The **invariant** one solves dp/du = −ℓ′(p, y); the **implicit**
one is the root of Δ = −u·ℓ′(p + Δ). Where labels are ±1, q = yp; W is Lambert's function, W(z)·exp W(z) =
z. For logarithmic and hellinger the formulas are those of the label 1; the label 0 is the mirror image, p →
1 − p.
"""
CERTIFICATE = f"""
The numbers beside the formulas are the largest relative deviations of the code's results: of the
invariant change from the equation (its time integral, found from ℓ′ alone by adaptive quadrature), of the
implicit change from the root (by bisection). Pushes go from {PUSHES[0]:g} to {PUSHES[-1]:g}. The checks
themselves round: near p = 1, where 1 − p has lost digits, a deviation of 1e-12 comes from them.
"""


@dataclass(frozen=True)
class Formula:
    """A formula as the code computes it, or an equivalent one; `paper` says what the paper has."""

    loss: str
    invariant: str
    implicit: str
    paper: str = "as in the paper"


OURS = "**ours:** the paper does not have it"
NO_FORMULA = Formula("as in the code", "numeric", "numeric", OURS)
SOFT = Formula("labels between 0 and 1", "numeric", "numeric", OURS)

FORMULAS = {
    "squared": Formula("½(p − y)²", "(y − p)·(1 − exp(−u))", "(y − p)·u/(1 + u)"),
    "logistic": Formula(
        "log(1 + exp(−q))",
        "y·(u + exp q − W(exp(u + q + exp q)))",
        "y·δ, δ = u/(1 + exp(q + δ)): not closed",
        "the same formula, which cancels for small u: solved as δ + exp q·(exp δ − 1) = u",
    ),
    "exponential": Formula(
        "exp(−q)",
        "y·log(1 + u·exp(−q))",
        "y·W(u·exp(−q))",
        "**corrected:** the implicit update is closed",
    ),
    "logarithmic": Formula(
        "−log p",
        "√(p² + 2u) − p",
        "½(√(p² + 4u) − p)",
        "**corrected:** the implicit update is closed; **added:** exact at the edges of (0, 1)",
    ),
    "hellinger": Formula(
        "2(1 − √p)",
        "(p√p + 3u/2)^(2/3) − p",
        "u/ρ, ρ > 0 with ρ³ − pρ = u: a cubic",
        "**corrected:** the implicit update is closed; **added:** exact at the edges of (0, 1)",
    ),
    "hinge": Formula(
        "max(0, 1 − q)",
        "y·min(u, 1 − q) if q < 1, else 0",
        "the same",
        "**corrected:** as printed, it would pull a row past the margin back to it",
    ),
    "quantile": Formula(
        "τ(y − p) if p < y, else (1 − τ)(p − y)",
        "min(τu, y − p) if p < y, else −min((1 − τ)u, p − y)",
        "the same",
    ),
    "tanh_logarithmic": Formula(
        "−log ½(1 ± tanh p)",
        "½ of the logistic change at 2p for 4u",
        "½ of the logistic change at 2p for 4u",
        "**corrected:** the appendix swaps two constants; as printed, a push of 0 moves p by −2p",
    ),
    "modified_huber": Formula(
        "½(1 − q)² for −1 < q < 1, 0 above, −2q below",
        "y·(1 − q)·(1 − exp(−u)) for −1 < q < 1; below, at speed 2 up to −1",
        "y·min(2u, (1 − q)·u/(1 + u)) if q < 1, else 0",
        OURS,
    ),
}


class Table1(Study):
    """Generated from the registry of losses, so a new loss appears automatically."""

    name = "table1"
    title = "Table 1: the updates"

    def steps(self, scope: Scope) -> list[Step]:
        soft = [name for name in losses.names() if losses.by_name(name).soft_labels is not None]
        plain = [certificates.step(name, soft=False) for name in losses.names()]
        return plain + [certificates.step(name, soft=True) for name in soft]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        heads = ["loss", "ℓ(p, y)", "invariant Δ", "deviation", "implicit Δ", "deviation", "beside the paper"]
        caption = (
            f"Every loss in the code, at {sum(int(row['cases']) for row in rows):,} combinations of "
            "prediction, label and push."
        )
        return Part(
            [SETTING, CERTIFICATE, ReportTable(heads, list(map(_line, rows)), caption, TABLE)], claims(rows)
        )


def _line(row: Row) -> list[str]:
    name = str(row["loss"])
    formula = SOFT if row["soft"] else FORMULAS.get(name, NO_FORMULA)
    return [
        name, formula.loss, formula.invariant, _format_deviation(row["flow"]),
        formula.implicit, _format_deviation(row["implicit"]), formula.paper,
    ]  # fmt: skip


def _format_deviation(deviation: object) -> str:
    return f"{float(str(deviation)):.0e}"


def claims(rows: Sequence[Row]) -> list[Claim]:
    closed = select_rows(rows, soft=False)
    flow = max(float(row["flow"]) for row in closed)
    invariance = max(float(row["invariance"]) for row in closed)
    exact, same = (Verdict.HOLDS if off <= EXACT else Verdict.FAILS for off in (flow, invariance))
    return [
        Claim(
            "Table 1", "These formulas are the invariant updates.", "–",
            f"the largest deviation from the equation is {flow:.0e}, over {len(closed)} losses",
            exact, explain_verdict(exact, "With the corrections that the table marks."), TABLE,
        ),
        Claim(
            "Theorems 1, 2", "A push of u, then one of v, is one of u + v: a weight of h is h copies.", "–",
            f"the largest deviation between one push and two is {invariance:.0e}",
            same, explain_verdict(same, "To rounding."), TABLE,
        ),
        _not_closed(closed),
        _hinge(closed),
    ]  # fmt: skip


def _not_closed(rows: Sequence[Row]) -> Claim:
    said = [row for row in rows if row["loss"] in ("logistic", "exponential", "logarithmic", "hellinger")]
    right = [row for row in said if float(row["implicit"]) <= EXACT and row["loss"] != "logistic"]
    return Claim(
        "Table 1", "Four implicit updates have no closed form.", "4",
        f"{len(said) - len(right)}: for {len(right)} there is one, off the root by no more than "
        f"{max((float(row['implicit']) for row in right), default=float('nan')):.0e}",
        Verdict.PARTLY if right else Verdict.HOLDS,
        "Lambert's function solves the exponential, a quadratic equation the logarithmic, a cubic the "
        "Hellinger loss. The logistic one we solve by iteration too.", TABLE,
    )  # fmt: skip


def _hinge(rows: Sequence[Row]) -> Claim:
    row = select_rows(rows, loss="hinge")[0]
    printed = float(row["printed"])
    return Claim(
        "Table 1", "The hinge update as printed, min(u, 1 − q), holds for every prediction.", "–",
        f"it holds up to the margin; past it, it moves rows that the equation leaves alone. Corrected, it is "
        f"off by {float(row['flow']):.0e}",
        Verdict.HOLDS if printed <= EXACT else Verdict.FAILS,
        "For q > 1 the loss is flat and 1 − q is negative: the printed minimum is a step back.", TABLE,
    )  # fmt: skip
