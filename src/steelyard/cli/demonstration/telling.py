"""What the demo says on the terminal: prose that wraps to its width, and tables that fit forty columns."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import Console

from steelyard.cli.demonstration.findings import Findings
from steelyard.cli.demonstration.folder import Command, typed
from steelyard.cli.demonstration.question import Question
from steelyard.cli.demonstration.weighing import WEIGHT, OneHeavy

WIDTH_OF_THE_TABLE = 76  # of `steelyard train`
_MOST_COLUMNS = 88
_TEXT = 200  # letters of a docstring that are shown


class Teller:
    """Speaks in paragraphs."""

    def __init__(self) -> None:
        console = Console()
        self.width = console.width
        self._console = Console(width=min(console.width, _MOST_COLUMNS))

    def title(self, text: str) -> None:
        self._console.print(f"\n{text}", style="bold", markup=False, highlight=False)

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)

    def lines(self, lines: Sequence[str]) -> None:
        """As they are: never cut, never wrapped."""
        click.echo("\n".join(lines))

    def commands(self, commands: Sequence[Command]) -> None:
        self.lines([typed(command) for command in commands])


@contextmanager
def doing(what: str) -> Iterator[None]:
    """A word on what takes a while, on standard error and only if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(what):
        yield


def note(what: str) -> None:
    """The same where a display of its own would be in the way of another."""
    if sys.stderr.isatty():
        click.echo(what, err=True)


def the_question(teller: Teller, question: Question) -> None:
    teller.title("The question")
    teller.say(
        f"Does a docstring come from {question.package}, or from another of the {question.packages} packages "
        "found in this Python, its standard library among them? "
        f"{len(question.learned):,} docstrings to learn from, half of them from {question.package}; "
        f"{len(question.held_out):,} held out, from other files. The packages' names are left out of the "
        "texts."
    )


def narrow_table(averages: Sequence[float]) -> list[str]:
    """The progressive loss at 1, 2, 4, … rows, where the table of `train` has no room."""
    rows = ["  examples  average loss"]
    count = 1
    while count <= len(averages):
        rows.append(f"{count:>10,}  {averages[count - 1]:>12.4f}")
        count *= 2
    return rows


def the_learning(teller: Teller, found: Findings) -> None:
    summary, quality = found.summary, found.quality
    teller.say(
        f"\nThe average loss of predictions made before their docstring was learned: "
        f"{summary['progressive_loss']:.3f}. The best constant has {summary['best_constant_loss']:.3f}."
    )
    teller.title("How good is it?")
    teller.say(
        f"Of the docstrings held out it gets {quality['accuracy']:.1%} right (tossing a coin: about half). "
        f"Area under the ROC curve: {quality['auc']:.3f}."
    )
    teller.title("Which words decide?")
    teller.lines(_words(found))
    teller.title("Why this prediction?")
    package, text = found.question.held_out[0]
    teller.say(f"“{shortened(text)}” ({package})")
    explained = found.explained
    side = found.folder.package if explained["prediction"] > 0.0 else "another package"
    teller.say(f"The prediction is {explained['prediction']:+.2f}: {side}. What it is made of, mostly:")
    teller.lines(
        [f"  {part['contribution']:+.3f}  {word(part['feature'])}" for part in explained["contributions"]]
        + [f"  {explained['bias']:+.3f}  (bias)"]
    )


def the_weights(teller: Teller, found: Findings) -> None:
    package, text = found.heavy_row
    plain, usual = found.plain_rates, found.usual_rates
    teller.title(f"What does a weight of {WEIGHT} do?")
    teller.say(f"“{shortened(text)}” ({package})")
    teller.say(
        "A second model, with plain rates and logistic loss, is more mistaken about this docstring than "
        f"about any other held out. Now it is to count {WEIGHT} times. A prediction above 0 means "
        f"{found.folder.package}."
    )
    teller.lines(_heavy_table(plain))
    explicit, invariant = plain.steps["explicit"], plain.steps["invariant"]
    teller.say(
        f"explicit multiplies the gradient by the weight, as most libraries do, and overshoots: "
        f"{explicit.at_once:+.1f} where {WEIGHT} copies end at {explicit.one_by_one:+.1f}. "
        f"invariant, the default, ends where {WEIGHT} copies do: {invariant.at_once:+.1f}."
    )
    teller.say(
        f"With the default, adaptive rates the accuracy goes from {usual.quality.accuracy:.1%} to "
        f"{usual.steps['explicit'].quality.accuracy:.1%} (explicit) and "
        f"{usual.steps['invariant'].quality.accuracy:.1%} (invariant)."
    )
    last = {update: qualities[-1] for update, qualities in found.sweep.same_rate.items()}
    teller.say(
        f"And with random weights from 1 to {found.sweep.largest[-1]:,} on all docstrings, plain rates: "
        f"{last['explicit'].accuracy:.1%} right and a log loss of {last['explicit'].log_loss:.3g} "
        f"(explicit), {last['invariant'].accuracy:.1%} and {last['invariant'].log_loss:.3g} (invariant)."
    )


def _heavy_table(heavy: OneHeavy) -> list[str]:
    def line(title: str, *cells: str) -> str:
        return f"  {title:<18}" + "".join(f"{cell:>10}" for cell in cells)

    steps = heavy.steps.values()
    return [
        "",
        line("", *heavy.steps),
        line("prediction before", *(f"{heavy.before:+.2f}" for _ in steps)),
        line(f"weight {WEIGHT} at once", *(f"{step.at_once:+.2f}" for step in steps)),
        line(f"{WEIGHT} copies", *(f"{step.one_by_one:+.2f}" for step in steps)),
        line("accuracy before", *(f"{heavy.quality.accuracy:.1%}" for _ in steps)),
        line("accuracy after", *(f"{step.quality.accuracy:.1%}" for step in steps)),
        "",
    ]


def _words(found: Findings) -> list[str]:
    """Two columns: for the package, and for the others."""
    positive, negative = found.model["top_positive"], found.model["top_negative"]
    lines = [f"  {'for ' + found.folder.package:<18}  for another"]
    for ours, theirs in zip(positive, negative, strict=False):
        cells = (f"{entry['weight']:+.2f} {word(entry['feature'])}" for entry in (ours, theirs))
        lines.append("  {:<18}  {}".format(*cells))
    return lines


def word(feature: str) -> str:
    """A feature is called column^word; there is one column."""
    return feature.partition("^")[2] or feature


def shortened(text: str) -> str:
    return text if len(text) <= _TEXT else text[:_TEXT].rpartition(" ")[0] + " …"
