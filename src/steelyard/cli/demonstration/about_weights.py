"""The part of the report on what weights do."""

from collections.abc import Iterator, Mapping

from steelyard.cli.demonstration import markup
from steelyard.cli.demonstration.findings import Findings
from steelyard.cli.demonstration.weighing import RATE, WEIGHT, OneHeavy


def one_heavy(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    package, text = found.heavy_row
    plain = found.plain_rates
    explicit, invariant = plain.steps["explicit"], plain.steps["invariant"]
    yield markup.heading(f"What a weight of {WEIGHT} does")
    yield markup.quotation(text, package)
    yield markup.paragraph(
        "A second model has learned the same docstrings with plain rates and logistic loss, and about none "
        "of those held out is it more mistaken than about this one. Suppose it matters, and is to count as "
        f"{WEIGHT} docstrings. Learning {WEIGHT} copies of it is slow, so libraries offer a weight. Most "
        "multiply the gradient by it (here: explicit), which is one long step in a direction that was right "
        "at its beginning. steelyard follows the slope of the loss all the way (invariant), which is as fast "
        f"and ends where {WEIGHT} copies end."
    )
    yield markup.picture(
        plots.get("one"),
        f"Prediction against weight. Explicit reaches {explicit.at_once:+.1f} at weight {WEIGHT}, far from "
        f"its copies at {explicit.one_by_one:+.1f}; invariant reaches {invariant.at_once:+.1f}, as its "
        "copies do.",
        "The prediction for this docstring after learning it with a weight in one step (lines), or as so "
        f"many copies (marks). Above 0 the model says {found.folder.package}. Plain rates, logistic loss.",
    )
    yield markup.table(
        ("rates, update", "before", f"weight {WEIGHT}", f"{WEIGHT} copies", "accuracy before", "and after"),
        [*_steps("plain", plain), *_steps("default", found.usual_rates)],
    )
    yield markup.paragraph(
        "Accuracy is that on all other docstrings held out, before and after the one step. That of the "
        "invariant update may fall too: that is what so many copies do. With the default rates, which "
        "adapt to each word, a weight is nearly but not exactly so many copies, and all is gentler."
    )


def _steps(rates: str, heavy: OneHeavy) -> Iterator[tuple[str, ...]]:
    for update, step in heavy.steps.items():
        yield (
            f"{rates}, {update}",
            f"{heavy.before:+.3f}",
            f"{step.at_once:+.3f}",
            f"{step.one_by_one:+.3f}",
            f"{heavy.quality.accuracy:.1%}",
            f"{step.quality.accuracy:.1%}",
        )


def all_heavy(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    sweep = found.sweep
    yield markup.heading("Weights on everything")
    yield markup.paragraph(
        "Now every docstring has a weight, drawn between 1 and a largest one, whatever package it is from. "
        "So the right answers stay the same, and a good learner should hardly notice."
    )
    yield markup.picture(
        plots.get("all"),
        f"Accuracy and log loss against the largest weight. At {sweep.largest[-1]:,}: "
        + "; ".join(
            f"{update} {qualities[-1].accuracy:.1%} and {qualities[-1].log_loss:.3g}"
            for update, qualities in sweep.same_rate.items()
        ),
        f"Solid: the learning rate {RATE:g} for all. Dotted: the best of seven rates from there down to "
        "a four-thousandth of it, chosen afterwards for each point; with luck or a search, multiplying the "
        "gradient can be rescued. Both axes of the lower plot are logarithmic.",
    )
    rows = []
    for k in range(0, len(sweep.largest), 2):
        for update, qualities in sweep.same_rate.items():
            best = sweep.best_rate[update][k]
            rows.append(
                (
                    f"{sweep.largest[k]:,}, {update}",
                    f"{qualities[k].accuracy:.1%}",
                    f"{qualities[k].log_loss:.3g}",
                    f"{best.accuracy:.1%}",
                    f"{best.log_loss:.3g}",
                )
            )
    yield markup.table(
        ("largest weight, update", "accuracy", "log loss", "accuracy, best rate", "log loss, best rate"), rows
    )


def in_the_small(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    if "toy" in plots:
        yield markup.heading("The same in the small, for other losses and updates")
        yield markup.picture(
            plots["toy"],
            "Prediction against weight for three losses and four updates; only for the invariant update does "
            "one step of weight h always end where h copies do.",
            "One example with one feature, whose label is 1, and a learning rate of 0.5. The line is one "
            "step of weight h, the dots are h copies.",
            class_="wide",
        )
