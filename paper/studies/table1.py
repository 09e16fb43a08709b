"""Table 1: the updates of each loss as formulas, checked against their definitions."""

from collections.abc import Sequence
from dataclasses import dataclass

from paper.studies import speed_steps
from paper.studies.weighted import certificates, laws
from paper.studies.weighted.certificates import PUSHES, TABLE
from paper.studies.weighted.laws import TABLE as LAWS
from paper.studies.weighted.summaries import select_rows
from paper.study import Claim, Part, ReportTable, Row, Scope, Step, Study, Tables, Tally
from paper.verdicts import judge, tally
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
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        soft = [name for name in losses.names() if losses.by_name(name).soft_labels is not None]
        plain = [certificates.step(name, soft=False) for name in losses.names()]
        return [
            *plain,
            *(certificates.step(name, soft=True) for name in soft),
            *(laws.step(name) for name in losses.names()),
        ]

    def part(self, tables: Tables, scope: Scope) -> Part:
        rows = tables[TABLE]
        heads = ["loss", "ℓ(p, y)", "invariant Δ", "deviation", "implicit Δ", "deviation", "beside the paper"]
        caption = (
            f"Every loss in the code, at {sum(int(row['cases']) for row in rows):,} combinations of "
            "prediction, label and push."
        )
        return Part(
            [
                SETTING,
                CERTIFICATE,
                ReportTable(heads, list(map(_line, sorted(rows, key=_place))), caption, TABLE, "Table 1"),
            ],
            claims(rows, tables[LAWS], tables.get(speed_steps.TABLE, [])),
        )


def _place(row: Row) -> tuple[bool, int]:
    """The order of the paper; what it does not have comes last."""
    names = list(FORMULAS)
    return bool(row["soft"]), names.index(str(row["loss"])) if row["loss"] in names else len(names)


def _line(row: Row) -> list[str]:
    name = str(row["loss"])
    formula = SOFT if row["soft"] else FORMULAS.get(name, NO_FORMULA)
    return [
        name, formula.loss, formula.invariant, _format_deviation(row["flow"]),
        formula.implicit, _format_deviation(row["implicit"]), formula.paper,
    ]  # fmt: skip


def _format_deviation(deviation: object) -> str:
    return f"{float(str(deviation)):.0e}"


def claims(rows: Sequence[Row], measured: Sequence[Row], speed: Sequence[Row]) -> list[Claim]:
    """C1, C2, C5 and C17."""
    closed = select_rows(rows, soft=False)
    in_paper = [row for row in closed if FORMULAS.get(str(row["loss"]), NO_FORMULA).paper != OURS]
    return [
        _flows(in_paper),
        _invariant(closed, measured),
        _implicit(closed, measured, speed),
        _between(measured),
    ]


def _flows(rows: Sequence[Row]) -> Claim:
    exact = [float(row["flow"]) <= EXACT for row in rows]
    cases = Tally(sum(exact), 0, len(exact) - sum(exact))
    return Claim(
        "Thm 1, Table 1",
        "The limit of ever smaller gradient steps is w − s(h)·x; common losses have a closed s.",
        "7 losses, and the tanh link",
        f"off the equation by {max(float(row['flow']) for row in rows):.0e} at most, over {len(rows)} losses",
        judge(cases),
        "Two printed formulas need a correction: [slips](#slips).",
        TABLE,
        1,
        cases,
    )


def _invariant(rows: Sequence[Row], measured: Sequence[Row]) -> Claim:
    constant = max(float(row["invariance"]) for row in rows)
    decaying = max(float(row["decaying"]) for row in measured)
    cases = tally(1 if float(row["invariance"]) <= EXACT else -1 for row in rows)
    decays = tally(1 if float(row["decaying"]) <= EXACT else -1 for row in measured)
    cases = Tally(cases.agree + decays.agree, 0, cases.against + decays.against)
    return Claim(
        "Thm 2, §3.2",
        "Weight a + b is weight a, then b, also while the rate decays.",
        "proved",
        f"one push against two: {constant:.0e} at most; with decaying rates {decaying:.0e}; "
        f"{len(measured)} losses",
        judge(cases),
        "To rounding.",
        f"{TABLE} {LAWS}",
        2,
        cases,
    )


NOT_CLOSED = ("logistic", "exponential", "logarithmic", "hellinger")
"""The losses whose Imp² has no closed form in the paper."""


def _implicit(rows: Sequence[Row], measured: Sequence[Row], speed: Sequence[Row]) -> Claim:
    straight = [row for row in measured if row["loss"] in ("hinge", "quantile")]
    others = [row for row in measured if row not in straight]
    same = [float(row["implicit_from_flow"]) <= EXACT for row in straight]
    in_two = [float(row["implicit_in_two"]) for row in others]
    closed = [
        str(row["loss"]) for row in rows if row["loss"] in NOT_CLOSED[1:] and float(row["implicit"]) <= EXACT
    ]
    cases = tally(
        1 if so else -1
        for so in [*same, *(each > EXACT for each in in_two), *(name not in closed for name in NOT_CLOSED)]
    )
    dearer = ""
    if speed:
        nanoseconds = [
            float(select_rows(speed, loss="logistic", update=update, kind="one feature")[0]["nanoseconds"])
            for update in ("implicit", "invariant")
        ]
        dearer = f"; the logistic root takes {nanoseconds[0] / nanoseconds[1]:.1f} times the invariant step"
    return Claim(
        "§5",
        "Imp² is the invariant update for hinge and quantile; else alike, not invariant, mostly not closed.",
        "2 the same, 4 not closed, a root perhaps 10 times dearer",
        f"{sum(same)} the same; one step differs from two by {min(in_two):.0%} to {max(in_two):.0%}; "
        f"{len(NOT_CLOSED) - len(closed)} not closed{dearer}",
        judge(cases),
        "Lambert's W solves the exponential, a quadratic the logarithmic, a cubic the Hellinger one.",
        f"{TABLE} {LAWS} {speed_steps.TABLE if speed else ''}",
        5,
        cases,
    )


def _between(measured: Sequence[Row]) -> Claim:
    rows = [row for row in measured if "past_projection" in row]
    beyond = sum(
        int(row[name]) for row in rows for name in ("past_gradient", "past_projection", "shorter_with_more")
    )
    ends = max(float(row[name]) for row in rows for name in ("small_push", "large_push"))
    cases = tally(
        1
        if not any(int(row[name]) for name in ("past_gradient", "past_projection", "shorter_with_more"))
        else -1
        for row in rows
    )
    return Claim(
        "§1",
        "The invariant step lies smoothly between a decaying gradient step and an aggressive projection.",
        "argued",
        f"of {sum(int(row['pushes']) for row in rows):,} steps {beyond} go beyond either or shrink as the "
        f"push grows; both ends are met to {ends:.0e}",
        judge(cases),
        f"Losses with a minimiser at a finite distance: {', '.join(str(row['loss']) for row in rows)}.",
        LAWS,
        17,
        cases,
    )
