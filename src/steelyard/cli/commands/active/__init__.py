"""`steelyard active`: the commands of active learning, each in a file of its own."""

import click

from steelyard.cli import Commands

_summaries = {
    "simulate": "Simulate active learning on labelled files.",
    "label": "Label documents in a page, with the keyboard.",
    "export": "Write all labels of a journal to a file.",
    "ask": "Ask for labels of a stream: JSON lines in, JSON lines out.",
    "certify": "Certify the model of a journal on the rows of a file.",
    "verify": "Check a certificate: its draws, its evidence and what it says.",
}


@click.command(cls=Commands, folder=__name__, summaries=_summaries)
def command() -> None:
    """Active learning: choose the examples whose labels are worth asking for.

    See docs/active.md.
    """
