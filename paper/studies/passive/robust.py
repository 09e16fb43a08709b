"""Table 4: how many schedules do nearly as well as the best."""

from collections.abc import Mapping

import numpy as np

from paper import verdicts
from paper.grids import NEAR, VERY_NEAR, Cells, Grid, format_spread
from paper.studies.passive.steps import TABLE
from paper.study import Claim, ReportTable
from paper.sweeping import UPDATES


def blocks(found: Cells, others: Mapping[str, Cells]) -> list[str | ReportTable]:
    return [
        *(_table(found, within) for within in (VERY_NEAR, NEAR)),
        ReportTable(
            ["data", "loss", *(f"{update}, {name}" for name in others for update in UPDATES)],
            [
                [*key, *(_share(other[key][update], NEAR) for other in others.values() for update in UPDATES)]
                for key in found
            ],
            f"The share within {NEAR}, in per cent, with a bias and with rows of length 1; one shuffle.",
            TABLE,
        ),
    ]


def claims(found: Cells) -> list[Claim]:
    return [_more(found, "explicit", within) for within in (VERY_NEAR, NEAR)] + [_diverged(found)]


def _table(found: Cells, within: float) -> ReportTable:
    reading = (
        f"The paper's Table 4: per cent of the schedules within {within} of the best one of the same update."
        if within == VERY_NEAR
        else f"The same within {within}."
    )
    return ReportTable(
        ["data", "loss", *UPDATES, "invariant : explicit", "± of the best"],
        [
            [
                *key,
                *(_share(each[update], within) for update in UPDATES),
                f"{_times_more(each, within):.1f}",
                f"{each['invariant'].standard_error():.4f}",
            ]
            for key, each in found.items()
        ],
        f"{reading} The last column is one standard error of the best accuracy: where it is larger than "
        f"{within}, which schedules are counted is partly luck, as the range over the shuffles shows.",
        TABLE,
    )


def _more(found: Cells, than: str, within: float) -> Claim:
    more = {
        key: each["invariant"].share(within).mean() > each[than].share(within).mean()
        for key, each in found.items()
    }
    less = [", ".join(key) for key, so in more.items() if not so]
    mean = {
        update: np.mean([each[update].share(within).mean() for each in found.values()]) for update in UPDATES
    }
    shares = ", ".join(f"{update} {share:.1%}" for update, share in mean.items())
    return Claim(
        where="Table 4",
        says=f"More schedules come within {within} of the best with the invariant update than with the "
        f"{than} one: the learning rate matters less.",
        paper="–",
        ours=f"in {sum(more.values())} of {len(more)} pairs of data and loss; on average over them {shares}",
        verdict=verdicts.judge_cases(sum(more.values()), len(more)),
        why=f"Not so for {'; '.join(less)}: there the best explicit schedules have the most company."
        if less
        else "So in every pair.",
        source=TABLE,
    )


def _diverged(found: Cells) -> Claim:
    """Not in the paper's tables, and behind them."""
    share = {update: np.mean([each[update].diverged.mean() for each in found.values()]) for update in UPDATES}
    squared = np.mean(
        [each["explicit"].diverged.mean() for (_, loss), each in found.items() if loss == "squared"]
    )
    aware_do_not = share["implicit"] == share["invariant"] == 0.0
    return Claim(
        where="Section 6",
        says="Large learning rates that ruin the explicit update do no harm to the importance-aware ones.",
        paper="–",
        ours=f"squared loss: {squared:.0%} of the explicit runs leave the range of float32; of all runs "
        + ", ".join(f"{update} {each:.1%}" for update, each in share.items()),
        verdict=verdicts.judge_cases(int(aware_do_not) + int(squared > 0.0), 2),
        why="The gradient of squared loss grows with the error, so each overshoot is larger than the last.",
        source=TABLE,
    )


def _share(grid: Grid, within: float) -> str:
    return format_spread(grid.share(within), 1, 100.0)


def _times_more(each: Mapping[str, Grid], within: float) -> float:
    return float(each["invariant"].share(within).mean() / each["explicit"].share(within).mean())
