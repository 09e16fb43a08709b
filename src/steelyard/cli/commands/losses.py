"""`steelyard losses`: the losses, with their labels, updates and parameters."""

import click
from rich.console import Console
from rich.table import Table

from steelyard import losses, updates


@click.command
def command() -> None:
    """List the losses.

    The table shows the labels that each loss takes, the updates that it has, and its parameters.
    """
    table = Table("loss", "labels", "updates", "options")
    for name in losses.names():
        loss = losses.by_name(name)
        parameters = ", ".join(
            f"--{parameter.replace('_', '-')} {value:g}"
            for parameter, value in losses.parameters(name).items()
        )
        table.add_row(name, loss.labels_in_words(), ", ".join(updates.names_for(loss)), parameters)
    Console().print(table)
