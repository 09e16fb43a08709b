"""`steelyard active ask`: JSON lines in and out, so that any program can drive it."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from steelyard.active import strategies
from steelyard.cli import options
from steelyard.cli.common import Choice


@click.command()
@click.option(
    "--classes", required=True, metavar="FIRST,SECOND", help="The two classes, as labels name them."
)
@click.option(
    "--strategy", type=Choice(strategies.names()), default=strategies.DEFAULT, show_default=True,
    help="How to choose the examples to ask for.",
)  # fmt: skip
@click.option(
    "--budget", type=click.IntRange(1), metavar="LABELS", help="How many labels to ask for; needs --expected."
)
@click.option("--expected", type=click.IntRange(1), metavar="EXAMPLES", help="How many examples will come.")
@click.option("--rate", type=float, help="The share of the examples to ask for, instead of a budget.")
@click.option("--c0", type=float, help="The constant C₀ of the paper, instead of both.")
@click.option(
    "--audit", type=float, default=0.0, show_default=True, metavar="SHARE",
    help="The share of the examples that are asked for at random and never learned, to evaluate the "
    "current model.",
)  # fmt: skip
@click.option(
    "--journal", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Store everything in this file; if it exists, continue from it.",
)  # fmt: skip
@click.option(
    "--bits",
    type=click.IntRange(1, 30),
    default=18,
    show_default=True,
    help="The model has 2^bits coefficients.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
def command(**given: Any) -> None:
    """Ask for labels of a stream: JSON lines in, JSON lines out.

    Each line of JSON on standard input is answered by one on standard output:

    \b
    {"example": {"title": "…", "price": 3}}   {"id": 0, "ask": true, "probability": …, "prediction": …, …}
    {"id": 0, "label": "spam"}                {"id": 0, "answered": true}
    {"id": 0, "skip": true}                   {"id": 0, "skipped": true}
    {"undo": true}                            {"id": 0, "undone": true}
    {"status": true}                          {"seen": 1, "asked": 1, "answered": 0, …}
    {"estimate": "error", "of": "current"}    {"estimate": "error", "of": "current", "value": …, "low": …, …}

    Labels may come late and in any order. The first line on standard output is a status, which says how
    many examples the journal has seen. An invalid line is answered by {"error": …} and changes nothing.

    The strategy iwal asks for a label with a probability that grows with the model's uncertainty; margin
    asks for the least certain examples; random for any.

    An estimate is of the error, precision, recall (of the second class) or loss (with "largest": …); of the
    models so far (progressive), the present model (current) or the examples so far (pool). Its interval,
    from low to high, has the confidence "level", by default 0.95, and is valid at any stopping time. The
    strategy margin gives no estimates without --audit. See docs/estimates.md.
    """
    from steelyard.cli.active.conversation import Conversation

    with options.errors(), Conversation(given) as conversation:
        _say(conversation.status())
        for line in sys.stdin:
            if line.strip():
                _say(conversation.reply(line))


def _say(reply: dict[str, Any]) -> None:
    click.echo(json.dumps(reply))
    sys.stdout.flush()
