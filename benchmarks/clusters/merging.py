"""What parts cost: accuracy of merged models against one learner, by parts, rounds and way of merging.

    python -m benchmarks.clusters.merging

Writes its section of docs/clusters.md. Three texts of the folder named by STEELYARD_DATA; four fifths of the
rows are learned in one pass, in random orders, and the rest are predicted.
"""

import copy
import lzma
import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import sections
from steelyard.engine import file_training
from steelyard.engine.file_labels import CLASSES
from steelyard.engine.run_options import RunOptions
from steelyard.examples import Examples, join
from steelyard.io.read_options import ReadOptions
from steelyard.learner import Learner
from steelyard.losses import by_name
from steelyard.merging.parts import GRADIENTS, MEAN, Part, part_of
from steelyard.model import Model, Settings

PAGE = Path(__file__).parents[2] / "docs" / "clusters.md"
SETS = ("rcv1-ccat.svm", "arxiv-astro.tsv", "enron-spam.tsv")
ORDERS = 4
# parts, rounds, and the way of merging; the defaults for 4, 8, 16, 32 and 64 files are the first five
CASES = (
    (2, 2, GRADIENTS), (4, 2, GRADIENTS), (4, 4, GRADIENTS), (4, 8, GRADIENTS), (8, 8, GRADIENTS),
    (8, 1, MEAN), (8, 1, GRADIENTS), (8, 4, MEAN), (8, 4, GRADIENTS), (8, 16, GRADIENTS),
    (32, 1, MEAN), (32, 1, GRADIENTS), (32, 4, MEAN), (32, 4, GRADIENTS), (32, 8, GRADIENTS),
    (32, 16, GRADIENTS),
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """The rows of a set, and a model that has learned none of them."""

    name: str
    start: Model
    train: Examples
    test: Examples

    def orders(self) -> Iterator[NDArray[np.int64]]:
        for seed in range(ORDERS):
            yield np.random.default_rng(seed).permutation(len(self.train))

    def learned(self, start: Model, rows: NDArray[np.int64]) -> Model:
        model = copy.deepcopy(start)
        Learner(model=model).learn(self.train.take(rows))
        return model

    def accuracy(self, model: Model) -> float:
        return 100.0 * float(np.mean((Learner(model=model).predict(self.test) > 0) == (self.test.labels > 0)))

    def merged(self, order: NDArray[np.int64], parts: int, rounds: int, by: str) -> Model:
        model = self.start
        for number, stretch in enumerate(np.array_split(order, rounds)):
            base = model if number else None
            pieces = [part_of(self.learned(model, rows), base, by) for rows in np.array_split(stretch, parts)]
            model = reduce(Part.merged, pieces).model(base)
        return model


def load(name: str) -> Task:
    """Features that no row has are left out: merging takes time for those that there are."""
    with lzma.open(
        Path(os.environ["STEELYARD_DATA"]) / f"{name}.xz", "rt", encoding="utf-8", newline="\n"
    ) as file:
        lines = file.read().removesuffix("\n").split("\n")
    head = [lines.pop(0)] if name.endswith("tsv") else []
    random.Random(1).shuffle(lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text("\n".join(head + lines) + "\n", encoding="utf-8")
        training = file_training.begin(
            [str(path)], ReadOptions.from_keywords(), RunOptions(),
            lambda inferred: [Settings(by_name("modified_huber"))], task=CLASSES,
        )  # fmt: skip
        rows = join([join([piece.examples]) for piece in training.files.rows(None).pieces(0)])
    features, indices = np.unique(rows.indices, return_inverse=True)
    rows = replace(rows, indices=indices.astype(rows.indices.dtype), features=len(features))
    start = Model(training.engine.settings[0], len(features))
    own = training.spec.features_with_own_units()
    if own is not None:
        start.fix_units(np.flatnonzero(np.isin(features, own)))
    learned = len(rows) * 4 // 5
    return Task(name, start, rows.take(np.arange(learned)), rows.take(np.arange(learned, len(rows))))


def main() -> None:
    heads = ["parts, merged by", "rounds"]
    lines = [[f"{parts}, {by}", str(rounds)] for parts, rounds, by in CASES]
    for name in SETS:
        task = load(name)
        alone = [task.accuracy(task.learned(task.start, order)) for order in task.orders()]
        heads.append(f"{name.partition('.')[0]} ({np.mean(alone):.2f})")
        for line, case in zip(lines, CASES, strict=True):
            found = [task.accuracy(task.merged(order, *case)) for order in task.orders()]
            line.append(f"{np.mean(found) - np.mean(alone):+.2f}")
    text = f"""Points of accuracy gained or lost against one learner, whose accuracy is in the heads: one
pass, the mean of {ORDERS} random orders. The first five lines are the defaults for 4, 8, 16, 32 and 64 files.

{sections.table(heads, lines)}
"""
    sections.write(PAGE, "benchmarks/clusters/merging.py", text)


if __name__ == "__main__":
    main()
