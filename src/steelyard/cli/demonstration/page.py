"""The report: one page that a newcomer understands and that needs no other file."""

import platform
from collections.abc import Iterator, Mapping

import steelyard
from steelyard.cli.demonstration import about_the_model, about_weights, markup
from steelyard.cli.demonstration.docstrings import MOST_WORDS
from steelyard.cli.demonstration.findings import Findings
from steelyard.cli.demonstration.folder import typed

TITLE = "Which package does a docstring come from?"
_SECTIONS = (
    about_the_model.learning,
    about_the_model.quality,
    about_the_model.words,
    about_the_model.explained,
    about_weights.one_heavy,
    about_weights.all_heavy,
    about_weights.in_the_small,
)


def written(found: Findings, plots: Mapping[str, str]) -> str:
    """The page. Without plots it says how to get them."""
    parts = [markup.element("h1", TITLE), *_beginning(found, plots)]
    for section in _SECTIONS:
        parts += section(found, plots)
    parts += _end(found)
    return markup.page(f"steelyard demo: {TITLE}", parts)


def _beginning(found: Findings, plots: Mapping[str, str]) -> Iterator[str]:
    question, package = found.question, found.folder.package
    yield markup.element(
        "p",
        f"A model has read {len(question.learned):,} docstrings of the packages in this Python, one after "
        f"another, half of them from {package}. Given a docstring it has not seen, it says whether it is "
        f"from {package}.",
        class_="lead",
    )
    yield markup.figures(
        [
            (
                f"{found.quality['accuracy']:.1%}",
                f"of {len(question.held_out):,} docstrings held out are right",
            ),
            (f"{found.quality['auc']:.3f}", "area under the ROC curve (0.5 is chance, 1 is perfect)"),
            (f"{found.summary['names']:,}", "different words in what was learned"),
            (f"{question.packages}", "packages, the standard library among them"),
        ]
    )
    yield markup.paragraph(
        "A docstring is the text with which a piece of Python says what it does. They were read from the "
        "source files; nothing was imported. Names of packages, examples and all but the first "
        f"{MOST_WORDS} words were left out. The docstrings held out are from files of which nothing was "
        "learned. Two of them:"
    )
    for package, text in question.held_out[:2]:
        yield markup.quotation(text, package)
    if not plots:
        yield markup.paragraph(
            "This page has no plots, as matplotlib is not installed. To get them: "
            'pip install "steelyard[plot]", then steelyard demo.'
        )


def _end(found: Findings) -> Iterator[str]:
    folder = found.folder
    yield markup.heading("The same by hand")
    yield markup.paragraph(
        "This is how the model was made, looked at and judged; type it where the demo ran:"
    )
    yield markup.commands([typed(command) for command in folder.main_commands()])
    yield markup.paragraph(
        f"And the largest weights of all, {found.sweep.largest[-1]:,}, with one rate for both:"
    )
    yield markup.commands([typed(command) for command in folder.heavy_commands()])
    yield markup.paragraph(
        "To ask about another package: steelyard demo --package numpy. Your own file, with a column named "
        "label and a column of text: steelyard train mine.csv -o mine.model. More: steelyard train --help."
    )
    yield markup.element("footer", f"steelyard {steelyard.__version__}, Python {platform.python_version()}")
