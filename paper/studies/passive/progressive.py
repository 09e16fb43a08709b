"""Do progressive error and loss tell which schedule does well on test rows? A question of ours."""

import numpy as np

from paper import verdicts
from paper.grids import NEAR, Cells, FloatArray, Grid, format_spread
from paper.studies.passive.steps import TABLE
from paper.study import Claim, ReportTable
from paper.sweeping import UPDATES

_KINDS = ("error", "loss")


def table(found: Cells) -> ReportTable:
    return ReportTable(
        ["data", "loss", *(f"{update}, by {kind}" for kind in _KINDS for update in UPDATES)],
        [
            [*key, *(format_spread(lost(each[update], kind)) for kind in _KINDS for update in UPDATES)]
            for key, each in found.items()
        ],
        "Ours, not the paper's: test accuracy lost by the schedule with the least progressive error, or "
        "loss, against the schedule that is best in hindsight. A model predicts each row before it learns "
        "it, so these figures need no test rows. Diverged schedules rank last.",
        TABLE,
    )


def claims(found: Cells) -> list[Claim]:
    return [_chooses(found, kind) for kind in _KINDS]


def lost(grid: Grid, kind: str) -> FloatArray:
    """What each shuffle has lost."""
    known = grid.progressive_error if kind == "error" else grid.progressive_loss
    chosen = np.where(grid.diverged | ~np.isfinite(known), np.inf, known).argmin(axis=1)
    loss: FloatArray = grid.best() - grid.accuracy[np.arange(len(chosen)), chosen]
    return loss


def _chooses(found: Cells, kind: str) -> Claim:
    losses = {key: float(lost(each["invariant"], kind).mean()) for key, each in found.items()}
    cheap = sum(each <= NEAR for each in losses.values())
    dearest = max(losses, key=lambda key: losses[key])
    return Claim(
        where="Section 6",
        says=f"Does progressive {kind}, which needs no test rows, choose a schedule nearly as good as the "
        "best?",
        paper="–",
        ours=f"invariant update: {NEAR} of accuracy or less is lost in {cheap} of {len(losses)} pairs of "
        f"data and loss, {np.mean(list(losses.values())):.4f} on average",
        verdict=verdicts.judge_cases(cheap, len(losses)),
        why=f"Most is lost for {', '.join(dearest)}: {losses[dearest]:.4f}. A progressive figure is an "
        "average over all models on the way, the test is of the last one.",
        source=TABLE,
    )
