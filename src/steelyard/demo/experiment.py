"""The experiment of the demo: its files, the commands a user would type, and everything they find out."""

import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from steelyard import _atomic_files, model_file
from steelyard.demo import titanic, weights
from steelyard.demo.titanic import COLUMNS, COUNTS, Passengers
from steelyard.demo.weights import HeavyRow
from steelyard.engine.file_rows import spec_of
from steelyard.engine.protocol import restore
from steelyard.examples import Examples
from steelyard.io.csv_text import csv_line
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.scoring import probabilities
from steelyard.scoring.predicting import accept_any_labels

SAMPLE, EVERYBODY, TEST, GROUPS = "titanic.csv", "titanic-all.csv", "titanic-test.csv", "groups.csv"
MODEL, WITHOUT, OF_ALL = "titanic.model", "unweighted.model", "all.model"
ORDERS = 10
REPORT, PREDICTED, PAGE = "report.html", "predicted.csv", "weights.html"

RunCommand = Callable[[list[str]], dict[str, Any]]
"""Runs `steelyard` with these words and --json; returns what it reports."""


@dataclass(frozen=True)
class Group:
    """People alike, how many of them survived, and what the three models say."""

    name: str
    people: int
    survived: float
    weighted: float
    unweighted: float
    everybody: float


@dataclass(frozen=True)
class Findings:
    """What the terminal and the page show."""

    folder: Path
    passengers: Passengers
    quality: dict[str, dict[str, Any]]
    """What `steelyard evaluate --json` reports of each model; figures are means over `ORDERS` of the rows."""
    groups: list[Group]
    heavy: HeavyRow
    commands: list[str]


def commands(folder: Path) -> list[list[str]]:
    """What a user would type."""

    def at(name: str) -> str:
        return str(folder / name)

    return [
        ["train", at(SAMPLE), "-o", at(MODEL)],
        ["evaluate", at(MODEL), at(TEST)],
        ["train", at(SAMPLE), "--ignore", "weight", "-o", at(WITHOUT)],
        ["evaluate", at(WITHOUT), at(TEST)],
        ["train", at(EVERYBODY), "-o", at(OF_ALL)],
        ["evaluate", at(OF_ALL), at(TEST)],
        ["predict", at(MODEL), at(TEST), "-o", at(PREDICTED), "--force"],
        ["explain", at(MODEL), at(TEST), "--row", "1"],
        ["report", at(MODEL), at(TEST), "-o", at(REPORT)],
    ]


def format_command(words: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, ["steelyard", *words]))


def prepare(folder: Path, seed: int) -> Passengers:
    """Write the files."""
    passengers = titanic.draw(seed)
    folder.mkdir(parents=True, exist_ok=True)
    _write(
        folder / SAMPLE, [[*COLUMNS, "weight"], *([*person, weight] for person, weight in passengers.sample)]
    )
    _write(folder / EVERYBODY, [COLUMNS, *passengers.train])
    _write(folder / TEST, [COLUMNS, *passengers.test])
    _write(folder / GROUPS, [COLUMNS[:3], *COUNTS])
    return passengers


def run_experiment(folder: Path, passengers: Passengers, run: RunCommand) -> Findings:
    """Run the commands, then look at what weights do."""
    quality = {}
    for words in commands(folder):
        if words[0] == "train":
            run(words)
            quality[Path(words[-1]).name] = _mean_quality(words, folder / TEST, run)
    chances = [_chances(folder / name, folder / GROUPS) for name in (MODEL, WITHOUT, OF_ALL)]
    groups = [
        Group(_name(*who), sum(counts), counts[1] / sum(counts), *(column[k] for column in chances))
        for k, (who, counts) in enumerate(COUNTS.items())
    ]
    spec = spec_of(model_file.load(folder / MODEL), folder / MODEL)
    return Findings(
        folder=folder,
        passengers=passengers,
        quality=quality,
        groups=sorted(groups, key=lambda group: -group.people),
        heavy=weights.weigh_one(_examples(folder / SAMPLE, spec), _examples(folder / TEST, spec)),
        commands=[format_command(words) for words in commands(folder)],
    )


def _mean_quality(train: list[str], test: Path, run: RunCommand) -> dict[str, Any]:
    """The mean quality of models that learned the rows in several orders: one order alone may be lucky."""
    reported = []
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / MODEL)
        for seed in range(ORDERS):
            run([*train[:-1], model, "--force", "--shuffle", "--seed", str(seed)])
            reported.append(run(["evaluate", model, str(test)]))
    figures = ("accuracy", "log_loss")
    return reported[0] | {name: fmean(each[name] for each in reported) for name in figures}


def _name(ticket: str, sex: str, age: str) -> str:
    who = {"adult": {"male": "men", "female": "women"}, "child": {"male": "boys", "female": "girls"}}[age][
        sex
    ]
    return f"{who} of the crew" if ticket == "crew" else f"{who}, {ticket} class"


def _write(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    with _atomic_files.replacing(path) as temporary:
        temporary.write_text("".join(f"{csv_line(row)}\n" for row in rows), encoding="utf-8", newline="")


def _chances(model: Path, file: Path) -> list[float]:
    """The probability of survival of each row."""
    stored = model_file.load(model)
    engine = restore(stored.engine)
    rows = _examples(file, accept_any_labels(spec_of(stored, model)))
    found = probabilities.class_probabilities(
        engine.settings[0].loss, engine.predict(rows), stored.calibration
    )
    return [float(chance) for chance in found[:, 1]]


def _examples(path: Path, spec: InputSpec) -> Examples:
    (block,) = Stream([path], spec.reader(), label_rule=spec.label_rule, block_size=path.stat().st_size + 1)
    return block.examples
