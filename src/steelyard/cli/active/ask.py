"""`steelyard active ask`: a line of JSON in, a line of JSON out, so that any program can drive it."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from steelyard.cli import options


@click.command()
@click.option(
    "--classes", required=True, metavar="FIRST,SECOND", help="The two classes, as labels name them."
)
@click.option(
    "--budget", type=click.IntRange(1), metavar="LABELS", help="How many labels to ask for, with --expected."
)
@click.option("--expected", type=click.IntRange(1), metavar="EXAMPLES", help="How many examples will come.")
@click.option("--rate", type=float, help="The share of the examples to ask for, instead of a budget.")
@click.option("--c0", type=float, help="C₀ of the paper, instead of both.")
@click.option(
    "--audit", type=float, default=0.0, show_default=True, metavar="SHARE",
    help="Of the examples: asked for whatever they are, never learned, and what the current model is "
    "judged by.",
)  # fmt: skip
@click.option(
    "--journal", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Where all that happens is kept; if it is there, go on from it.",
)  # fmt: skip
@click.option("--bits", type=click.IntRange(1, 30), default=18, show_default=True, help="2^bits weights.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all that is drawn.")
def command(**given: Any) -> None:
    """Say of examples, line by line, whose label is wanted; learn the labels.

    On standard input come lines of JSON, and each is answered by one on standard output:

    \b
    {"example": {"title": "…", "price": 3}}   {"id": 0, "ask": true, "probability": …, "prediction": …, …}
    {"id": 0, "label": "spam"}                {"id": 0, "answered": true}
    {"id": 0, "skip": true}                   {"id": 0, "skipped": true}
    {"undo": true}                            {"id": 0, "undone": true}
    {"status": true}                          {"seen": 1, "asked": 1, "answered": 0, …}
    {"estimate": "error", "of": "current"}    {"estimate": "error", "of": "current", "value": …, "low": …, …}

    Labels may come late and in any order. The first line on standard output is a status, which says how
    many examples a journal has seen. A line that makes no sense is answered by {"error": …} and changes
    nothing.

    An estimate is of the error, precision, recall (of the second class) or loss, with "largest": …; of the
    models so far (progressive), the model held now (current) or the examples so far (pool). Its interval,
    from low to high, holds at every moment with the confidence "level", 0.95 unless said otherwise.
    docs/estimates.md has more.
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
