"""Do the intervals hold at all times, and how wide are they? On simulated streams and on models that learn.

    STEELYARD_DATA=folder python -m benchmarks.active.coverage --output docs/estimates.md

Beside the page it writes a picture, `estimates.svg`: one stream, its confidence sequence, the naive interval.
"""

import time
from pathlib import Path

import click
import numpy as np

from benchmarks.active import estimates_coverage, estimates_refit
from benchmarks.active.estimates_peeking import picture
from benchmarks.active.simulated import NATURES, TRUTHS, Streams, always_inside, naive, streams
from benchmarks.support import sections
from steelyard.active.estimates import RunningEstimate, pool
from steelyard.active.label_sample import from_labels

MEASURES = ("error", "precision", "recall")
PICTURE = "estimates.svg"
_WIDE_ROWS, _WIDE_RUNS = 10_000, 5  # for which widths are compared

PAGE = """
## The figures

![One stream with a true error of 10 %, picked as one that shows it. The confidence sequence holds the truth
at every moment; the naive interval, half as wide, loses it several times.]({picture})

This stream was picked: the first of 40 in which the naive interval is wrong at 2 % of the moments or more.
How often it is wrong at all is in the last column of the table.

### Is the truth inside at all times?

{runs:,} streams of {rows:,} rows of each kind; a look after every row. The share of streams in which the
truth was inside the 95 % interval at *every* look (for `progressive`: of what the predictions would do on
such rows or of what they did on these, whichever came off worse). Half of the streams came with the true
chances as guesses. Last, the naive interval: weighted average ± 1.96 standard errors, from the 30th label
on (which at P = 1 % hardly a stream of this length comes to).

{covered}

### How wide are they?

The width of the interval of the error after {wide:,} rows, mean of {wide_runs} streams. To hold at every
moment makes it 1.5 to 2.5 times as wide as the naive one, which promises one moment only. (Where nearly
everything is wrong it is far narrower: it bets on what is right.) The guesses are the true chances. A pool
is certain of the rows that were answered.

{widths}

### What a floor buys

1,000 relevant documents were found among those that were read for sure. The rest was read with the
probability of the floor, and nothing was found there. What may be left does not depend on the size of the
rest but on the floor: 7 to 9 divided by it.

{floors}

{models}

{texts}

`STEELYARD_DATA=… python -m benchmarks.active.coverage --output docs/estimates.md` wrote this part of the page and
the picture in {minutes:.0f} minutes.
"""


@click.command()
@click.option("--runs", default=1000, show_default=True, help="Simulated streams of each kind.")
@click.option("--rows", default=1000, show_default=True, help="Rows of each.")
@click.option("--models", default=250, show_default=True, help="Models learned anew.")
@click.option("--seeds", default=3, show_default=True, help="Shuffles of each real text.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The page to write to.")
def main(runs: int, rows: int, models: int, seeds: int, output: Path | None) -> None:
    start = time.perf_counter()
    parts = {
        "covered": covered(runs, rows), "widths": widths(), "floors": floors(),
        "models": estimates_refit.section(models), "texts": estimates_coverage.section(seeds),
    }  # fmt: skip
    minutes = (time.perf_counter() - start) / 60.0
    sizes = {"runs": runs, "rows": rows, "wide": _WIDE_ROWS, "wide_runs": _WIDE_RUNS}
    text = PAGE.format(picture=PICTURE, minutes=minutes, **sizes, **parts)
    click.echo(text)
    if output is not None:
        sections.write(output, "benchmarks.active.coverage", text)
        picture(output.with_name(PICTURE))


def covered(runs: int, rows: int) -> str:
    """The share of runs in which the truth was inside at every single moment."""
    table = []
    for name, nature in NATURES.items():
        sample = streams(nature, runs, rows, seed=1)
        cells = [_covered(sample, of, measure) for of in TRUTHS for measure in MEASURES]
        peeked = [
            always_inside(naive(sample.draws(run)), sample.truth("risk", "error", run)) for run in range(runs)
        ]
        table.append([name, *(f"{100.0 * cell:.1f} %" for cell in (*cells, float(np.mean(peeked))))])
    heads = ["stream", *(f"{of} {measure}" for of in TRUTHS for measure in MEASURES), "naive, error"]
    return sections.table(heads, table)


def _covered(sample: Streams, of: str, measure: str) -> float:
    inside = []
    for run in range(len(sample.asked)):
        path = RunningEstimate(of, measure).path(sample.draws(run, guessed=run % 2 == 0))
        inside.append([always_inside(path, sample.truth(each, measure, run)) for each in TRUTHS[of]])
    return float(np.mean(inside, axis=0).min())


def widths() -> str:
    """How much wider than an interval that holds once, and what guesses are worth."""
    table = []
    for name, nature in NATURES.items():
        sample = streams(nature, _WIDE_RUNS, _WIDE_ROWS, seed=2)
        fixed = [naive(sample.draws(run)) for run in range(_WIDE_RUNS)]
        found = [np.mean([each.high[-1] - each.low[-1] for each in fixed])]
        found += [_width(sample, of, guessed) for of in TRUTHS for guessed in (False, True)]
        labels = sample.asked.sum() / _WIDE_RUNS
        table.append([name, f"{labels:,.0f}", *(f"{each:.3f}" for each in found)])
    heads = ["stream", "labels", "naive", "progressive", "with guesses", "pool", "with guesses"]
    return sections.table(heads, table)


def _width(sample: Streams, of: str, guessed: bool) -> float:
    found = []
    for run in range(_WIDE_RUNS):
        running = RunningEstimate(of)
        running.add(sample.draws(run, guessed))
        found.append(running.estimate().width)
    return float(np.mean(found))


def floors() -> str:
    """What can be said of a region in which nothing was found."""
    table = []
    sure = np.ones(1000)
    for floor in (0.01, 0.02, 0.05, 0.1, 0.2):
        cells = []
        for size in (10_000, 100_000):
            asked = np.random.default_rng(0).random(size) < floor
            columns = (
                np.concatenate(pair)
                for pair in ((sure, np.full(size, floor)), (sure, asked), (sure, np.zeros(size)))
            )
            found = pool(from_labels(*columns), "recall")
            cells += [f"{asked.sum():,}", f"{found.low:.3f}"]
        table.append([f"{floor:.0%}", *cells])
    heads = ["floor", "labels in 10,000 rows", "recall at least", "labels in 100,000 rows", "recall at least"]
    return sections.table(heads, table)


if __name__ == "__main__":
    main()
