"""The folder of the demo: its files, and the commands with which a user does the same by hand."""

import csv
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard import _atomic_files
from steelyard.cli.demonstration import weighing

Command = tuple[tuple[str, ...], ...]
"""The words of a command in groups, each of which fits a line."""

_COLUMNS = ("package", "docstring")


@dataclass(frozen=True)
class Folder:
    """Where everything lies, for the question whether a docstring is from `package`."""

    path: Path
    package: str

    @property
    def learned(self) -> Path:
        return self.path / "train.tsv"

    @property
    def held_out(self) -> Path:
        return self.path / "held-out.tsv"

    @property
    def heavy(self) -> Path:
        """What is in `learned`, with weights."""
        return self.path / "heavy.tsv"

    @property
    def model(self) -> Path:
        return self.path / "docstrings.model"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    def train(self) -> Command:
        return (
            ("train", str(self.learned)),
            *self._question(),
            ("-o", str(self.model)),
        )

    def evaluate(self) -> Command:
        return ("evaluate", str(self.model)), (str(self.held_out),)

    def inspect(self) -> Command:
        return (("inspect", str(self.model)),)

    def explain(self) -> Command:
        return ("explain", str(self.model)), (str(self.held_out), "--rows", "1")

    def train_heavy(self, update: str) -> Command:
        return (
            ("train", str(self.heavy)),
            *self._question(),
            ("--loss", "logistic", "--scaling", "plain"),
            ("--learning-rate", f"{weighing.RATE:g}", "--update", update),
            ("-o", str(self._model_of(update))),
        )

    def evaluate_heavy(self, update: str) -> Command:
        return ("evaluate", str(self._model_of(update))), (str(self.held_out),)

    def main_commands(self) -> list[Command]:
        return [self.train(), self.inspect(), self.evaluate(), self.explain()]

    def heavy_commands(self) -> list[Command]:
        return [
            command
            for update in weighing.UPDATES
            for command in (self.train_heavy(update), self.evaluate_heavy(update))
        ]

    def _question(self) -> Command:
        return ("--label", "package", "--labels", f"*,{self.package}"), ("--repeated", "binary")

    def _model_of(self, update: str) -> Path:
        return self.path / f"heavy-{update}.model"


def words(command: Command) -> list[str]:
    """As the command line takes them."""
    return [word for group in command for word in group]


def typed(command: Command) -> str:
    """As one types it, in lines that also fit a narrow window."""
    first, *others = (" ".join(map(shlex.quote, group)) for group in command)
    return " \\\n    ".join([f"steelyard {first}", *others])


def write(path: Path, rows: Sequence[tuple[str, str]], weights: Iterable[float] | None = None) -> None:
    """A table of docstrings, whole or not at all."""
    with (
        _atomic_files.replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        if weights is None:
            writer.writerows([_COLUMNS, *rows])
        else:
            writer.writerow(("weight", *_COLUMNS))
            writer.writerows((f"{weight:g}", *row) for weight, row in zip(weights, rows, strict=True))
