"""The part of the report on the model: how it learned, how good it is, and what it goes by."""

from collections.abc import Iterator, Mapping

from steelyard.cli.demonstration import markup
from steelyard.cli.demonstration.findings import Findings
from steelyard.cli.demonstration.telling import word


def learning(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    loss, constant = found.summary["progressive_loss"], found.summary["best_constant_loss"]
    yield markup.heading("It learns from the first docstring on")
    yield markup.paragraph(
        "Every docstring is first predicted, then learned. The loss says how wrong a prediction was; 0 is "
        f"right and sure. It was {loss:.3f} on average over the whole run. Answering the same for every "
        f"docstring would give {constant:.3f} at best."
    )
    yield markup.picture(
        plots.get("learning"),
        f"Average loss against docstrings learned: it falls to {loss:.3f}, the best constant has "
        f"{constant:.3f}.",
        "Average loss so far against the number of docstrings learned; lower is better.",
    )


def quality(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    figures, package = found.quality, found.folder.package
    yield markup.heading("How good it is")
    yield markup.table(
        ("on the docstrings held out", ""),
        [
            ("docstrings", f"{figures['examples']:,}"),
            ("accuracy", f"{figures['accuracy']:.1%}"),
            ("area under the ROC curve", f"{figures['auc']:.4f}"),
            ("average loss", f"{figures['loss']:.4f}"),
            ("calibration error", f"{figures['calibration_error']:.4f}"),
        ],
    )
    histogram = markup.picture(
        plots.get("scores"),
        f"Histogram of predictions: docstrings of {package} mostly above 0, others mostly below.",
        f"Predictions for the docstrings held out. Right of the dashed line the model says {package}; where "
        "the colours overlap on the wrong side, it errs. The outermost bars hold all that lies beyond.",
    )
    calibration = markup.picture(
        plots.get("calibration"),
        "Observed part against predicted probability, near the diagonal if the model is honest.",
        "Does it know how sure it may be? On the diagonal, 70 % of those said to be 70 % likely are so. "
        "Larger dots are more docstrings.",
    )
    yield f'<div class="pair">{histogram}{calibration}</div>' if histogram else ""


def words(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    package = found.folder.package
    positive, negative = found.model["top_positive"], found.model["top_negative"]
    yield markup.heading("Which words decide")
    yield markup.paragraph(
        "The prediction is a sum: each word of a docstring adds its weight. Words with a weight above 0 "
        f"speak for {package}, the others against it."
    )
    if "words" in plots:
        yield markup.picture(
            plots["words"],
            f"Bars: the largest weights, such as {word(positive[0]['feature'])} for {package}, and the "
            f"smallest, such as {word(negative[0]['feature'])} for other packages.",
            "The words with the largest weights of either sign.",
        )
    else:
        yield markup.table(
            ("word", "weight"),
            [(word(entry["feature"]), f"{entry['weight']:+.3f}") for entry in [*positive, *negative[::-1]]],
        )


def explained(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    package, text = found.question.held_out[0]
    made_of = found.explained
    said = found.folder.package if made_of["prediction"] > 0.0 else "another package"
    yield markup.heading("Why this prediction")
    yield markup.quotation(text, package)
    yield markup.paragraph(
        f"The prediction is {made_of['prediction']:+.3f}: {said}. The words that contribute most, and the "
        "bias, which every docstring has:"
    )
    rows = [(word(part["feature"]), f"{part['contribution']:+.3f}") for part in made_of["contributions"]]
    yield markup.table(("word", "adds"), [*rows, ("(bias)", f"{made_of['bias']:+.3f}")])
