"""The table of the demo, and what to see in it."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from steelyard.cli.comparison import LABEL, RATE, START, WEIGHT, Row

_ROUNDING = 1e-12  # differences below it are not worth a sign


def show(console: Console, comparisons: list[list[Row]]) -> None:
    """Print the comparisons, one for each loss, between two short paragraphs."""
    console.print(
        f"One example: x = 1, label {LABEL:g}. Before it the model predicts {START:g}; the learning rate is "
        f"{RATE:g}. What does the model predict after learning it with weight {WEIGHT}, "
        f"and what after {WEIGHT} copies of it?",
        highlight=False,
    )
    console.print()
    console.print(_table(comparisons))
    console.print()
    for sentence in _lessons(comparisons[0]):
        console.print(sentence, highlight=False)


def _table(comparisons: list[list[Row]]) -> Table:
    table = Table("loss", "update")
    for heading in (f"weight {WEIGHT}\nin one step", f"{WEIGHT} copies,\none at a time", "difference"):
        table.add_column(heading, justify="right")
    for comparison in comparisons:
        for row in comparison:
            table.add_row(
                row.loss if row is comparison[0] else "",
                row.update,
                f"{row.at_once:.4f}",
                f"{row.copies:.4f}",
                _difference(row),
                end_section=row is comparison[-1],
            )
    return table


def _difference(row: Row) -> Text:
    if abs(row.difference) < _ROUNDING:
        return Text("0", style="bold green")
    return Text(f"{row.difference:+.4f}")


def _lessons(rows: list[Row]) -> list[str]:
    """What the rows of one loss teach a newcomer."""
    by_update = {row.update: row for row in rows}
    explicit, implicit = by_update["explicit"], by_update["implicit"]
    return [
        f"explicit: {explicit.at_once:.1f}, while {WEIGHT} copies give {explicit.copies:.1f}. "
        "It multiplies the gradient by the weight, which is what most libraries do.",
        f"implicit: {implicit.at_once:.2f}, while {WEIGHT} copies give {implicit.copies:.2f}. It cannot "
        "overshoot, but one long step is not many short ones. second_order approximates it.",
        f"invariant: the same both ways. A weight of {WEIGHT} is exactly {WEIGHT} copies.",
    ]
