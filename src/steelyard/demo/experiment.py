"""The experiment of the demo: its files, the commands a user would type, and everything they find out."""

import csv
import itertools
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import _atomic_files, model_file
from steelyard.demo import docstrings, weights
from steelyard.demo.docstrings import DocstringRow, Docstrings
from steelyard.demo.weights import HeavyRow, HeavyRows
from steelyard.engine.file_rows import spec_of
from steelyard.examples import Examples
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.learner import Learner
from steelyard.model import Settings

TRAIN, HELD_OUT, WEIGHTED = "train.tsv", "held-out.tsv", "heavy.tsv"
MODEL, REPORT = "docstrings.model", "report.html"
WORDS = 10  # listed for each side
PARTS = 6  # of the prediction that is explained
_POINTS = 300  # of the learning curve: as many as can be told apart

CommandWords = tuple[tuple[str, ...], ...]
"""The words of a command in groups, each of which fits a line."""

RunCommand = Callable[[list[str]], dict[str, Any]]
"""Runs `steelyard` with these words and --json; returns what it reports."""


@dataclass(frozen=True)
class DemoFolder:
    """The files of the demo, and the commands for the question whether a docstring is from `package`."""

    path: Path
    package: str

    def file(self, name: str) -> str:
        return str(self.path / name)

    def main_commands(self) -> list[CommandWords]:
        return [
            (("train", self.file(TRAIN)), *self._labels(), ("-o", self.file(MODEL))),
            (("inspect", self.file(MODEL)),),
            (("evaluate", self.file(MODEL)), (self.file(HELD_OUT),)),
            (("explain", self.file(MODEL)), (self.file(HELD_OUT), "--rows", "1")),
        ]

    def weighted_commands(self) -> list[CommandWords]:
        """Train and evaluate on the weighted rows, with either update."""
        commands: list[CommandWords] = []
        for update in weights.UPDATES:
            path = self.file(f"heavy-{update}.model")
            rate = ("--learning-rate", f"{weights.RATE:g}", "--update", update)
            plain = ("--loss", "logistic", "--scaling", "plain")
            given = ("--weight-scale", "as_given")
            commands += [
                (("train", self.file(WEIGHTED)), *self._labels(), plain, rate, given, ("-o", path)),
                (("evaluate", path), (self.file(HELD_OUT),)),
            ]
        return commands

    def _labels(self) -> CommandWords:
        return ("--label", "package", "--labels", f"*,{self.package}"), ("--repeated", "binary")


@dataclass(frozen=True)
class Findings:
    """For the terminal and for the report."""

    folder: DemoFolder
    docstrings: Docstrings
    curve: list[tuple[int, float]]
    """Docstrings learned, and the average loss of predictions made before each was learned."""
    training: dict[str, Any]
    """As `steelyard train --json` reports it; the next three likewise."""
    model: dict[str, Any]
    quality: dict[str, Any]
    explained: dict[str, Any]
    """Of the first row held out."""
    scores: list[tuple[float, bool]]
    """For each row held out: the prediction, and whether it is from the package."""
    heavy_row: DocstringRow
    plain_rates: HeavyRow
    default_rates: HeavyRow
    weighted: HeavyRows


def format_command(command: CommandWords) -> str:
    """The command as one types it, in lines that also fit a narrow window."""
    first, *others = (" ".join(map(shlex.quote, group)) for group in command)
    return " \\\n    ".join([f"steelyard {first}", *others])


def write_rows(
    path: Path, rows: Sequence[DocstringRow], sample_weight: Iterable[float] | None = None
) -> None:
    """Write a table of docstrings, whole or not at all."""
    header: tuple[str, ...] = ("package", "docstring")
    lines: list[tuple[str, ...]] = list(rows)
    if sample_weight is not None:
        header = ("weight", *header)
        lines = [(f"{weight:g}", *row) for weight, row in zip(sample_weight, rows, strict=True)]
    with (
        _atomic_files.replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([header, *lines])


def prepare(path: Path, wanted: str, seed: int) -> tuple[DemoFolder, Docstrings]:
    """Collect docstrings and write the files to learn from."""
    collected = docstrings.collect(docstrings.find_installed(), wanted, seed)
    path.mkdir(parents=True, exist_ok=True)
    write_rows(path / TRAIN, collected.train)
    write_rows(path / HELD_OUT, collected.held_out)
    sample_weight = weights.draw_weights(len(collected.train), max(weights.LARGEST), seed)
    write_rows(path / WEIGHTED, collected.train, sample_weight)
    return DemoFolder(path, collected.package), collected


def run_experiment(folder: DemoFolder, collected: Docstrings, run: RunCommand, seed: int) -> Findings:
    """Run the commands, then look at what weights do."""
    options = ((), ("--top", f"{WORDS}"), (), ("--top", f"{PARTS}"))
    training, inspected, quality, explained = (
        run([*itertools.chain(*command), *more])
        for command, more in zip(folder.main_commands(), options, strict=True)
    )
    stored = model_file.load(folder.path / MODEL)
    learned, spec = stored.engine.models[0], spec_of(stored, folder.path / MODEL)
    train, held_out = (
        _read_examples(folder.path / name, spec, learned.settings) for name in (TRAIN, HELD_OUT)
    )
    scores = Learner(model=learned).predict(held_out).tolist()
    plain = weights.train_plain(train)
    row = weights.find_worst(plain, held_out)
    return Findings(
        folder=folder,
        docstrings=collected,
        curve=_learning_curve(learned.settings, train),
        training=training,
        model=inspected,
        quality=quality,
        explained=explained,
        scores=list(zip(scores, (held_out.labels > 0.0).tolist(), strict=True)),
        heavy_row=collected.held_out[row],
        plain_rates=weights.weigh_one(plain, held_out, row),
        default_rates=weights.weigh_one(learned, held_out, row),
        weighted=weights.weigh_all(train, held_out, seed),
    )


def _read_examples(path: Path, spec: InputSpec, settings: Settings) -> Examples:
    reader, size = spec.reader(), path.stat().st_size + 1
    stream = Stream([path], reader, loss=settings.loss, label_rule=spec.label_rule, block_size=size)
    (block,) = stream
    return block.examples


def _learning_curve(settings: Settings, train: Examples) -> list[tuple[int, float]]:
    """The progressive loss at counts evenly spaced in their logarithm, at powers of two, and at the end."""
    rows = len(train)
    evenly = np.geomspace(1, rows, _POINTS).astype(np.int64)
    counts = np.unique([*evenly, *(2**k for k in range(rows.bit_length())), rows])
    learner, start, curve = Learner(settings, train.features), 0, []
    for count in counts.tolist():
        learner.learn(train.take(np.arange(start, count)))
        curve.append((count, learner.model.progressive_loss))
        start = count
    return curve


def word_of(feature: str) -> str:
    """The word in a feature's name, which is column^word; there is one column."""
    return feature.partition("^")[2] or feature
