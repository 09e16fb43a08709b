"""Everything the demo finds out, in the order in which it does. What is shown of it is not its business."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from steelyard.cli import evaluate, explain, inspect, stored, train
from steelyard.cli.demonstration import folder as folders
from steelyard.cli.demonstration import packages, question, weighing
from steelyard.cli.demonstration.folder import Command, Folder
from steelyard.cli.demonstration.question import Question, Row
from steelyard.cli.demonstration.weighing import AllHeavy, OneHeavy
from steelyard.cli.scoring import of, predicted
from steelyard.cli.training import Learned, losses_of
from steelyard.model import Model

WORDS = 10  # of each side
PARTS = 6  # of the prediction that is explained


class Progress:
    """The average loss of predictions made before their row was learned, after 1, 2, 3, … rows."""

    def __init__(self) -> None:
        self._losses: list[float] = []

    def __call__(self, learned: Learned, model: Model) -> None:
        self._losses += losses_of(model, learned.predictions, learned.examples.labels).tolist()

    def averages(self) -> list[float]:
        averages: list[float] = (np.cumsum(self._losses) / np.arange(1, len(self._losses) + 1)).tolist()
        return averages


@dataclass(frozen=True)
class Findings:
    """For the terminal and for the report."""

    folder: Folder
    question: Question
    averages: list[float]
    summary: dict[str, Any]
    """As `steelyard train` has it."""
    model: dict[str, Any]
    """As `steelyard inspect` has it."""
    quality: dict[str, Any]
    """As `steelyard evaluate` has it."""
    explained: dict[str, Any]
    """As `steelyard explain` has it, of the first row held out."""
    scores: list[tuple[float, bool]]
    """Of each row held out: the prediction, and whether it is from the package."""
    heavy_row: Row
    plain_rates: OneHeavy
    usual_rates: OneHeavy
    sweep: AllHeavy


def collect(path: Path, wanted: str | None, seed: int) -> tuple[Folder, Question]:
    """Ask the question and write its files."""
    asked = question.asked(packages.installed(), wanted, seed)
    folder = Folder(path, asked.package)
    path.mkdir(parents=True, exist_ok=True)
    folders.write(folder.learned, asked.learned)
    folders.write(folder.held_out, asked.held_out)
    weights = weighing.drawn(len(asked.learned), max(weighing.LARGEST), seed)
    folders.write(folder.heavy, asked.learned, weights)
    return folder, asked


def learn(folder: Folder, *, table: bool) -> tuple[Progress, dict[str, Any]]:
    """`steelyard train`, as a user would type it."""
    progress = Progress()
    context, given = _parsed(train.command, folder.train())
    return progress, train.run(context, given.pop("files"), given, table=table, watch=progress)


def examine(
    folder: Folder, asked: Question, progress: Progress, summary: dict[str, Any], seed: int
) -> Findings:
    """All the rest: the model, how good it is, and what weights do."""
    _, given = _parsed(evaluate.command, folder.evaluate())
    files = given.pop("files")
    quality = evaluate.run(folder.model, files, given)
    (explained,) = explain.run(folder.model, files, PARTS, 1, given)
    kept = stored.load(folder.model)
    scores = [
        (prediction, label > 0.0)
        for parsed in predicted(kept, kept.reading, files, given, labelled=True)
        for prediction, label in zip(of(parsed).tolist(), parsed.examples.labels.tolist(), strict=True)
    ]
    learned, held_out = (weighing.whole(path, kept.reading) for path in (folder.learned, folder.held_out))
    plain = weighing.plain_model(learned)
    row = weighing.most_mistaken(plain, held_out)
    plain_rates = weighing.one_heavy(plain, held_out, row)
    usual_rates = weighing.one_heavy(kept.model, held_out, row)
    return Findings(
        folder=folder,
        question=asked,
        averages=progress.averages(),
        summary=summary,
        model=inspect.described(kept, WORDS),
        quality=quality,
        explained=explained,
        scores=scores,
        heavy_row=asked.held_out[row],
        plain_rates=plain_rates,
        usual_rates=usual_rates,
        sweep=weighing.all_heavy(learned, held_out, seed),
    )


def _parsed(command: click.Command, words: Command) -> tuple[click.Context, dict[str, Any]]:
    """What the command's own parser makes of the words, with its defaults."""
    name, *arguments = folders.words(words)
    context = command.make_context(name, arguments)
    return context, dict(context.params)
