"""What the page of a report says, gathered from the scored rows of files."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.engine.frozen_models import freeze
from steelyard.engine.holdout import Holdout
from steelyard.examples import Examples
from steelyard.io import grouped_rows
from steelyard.io.columns import LABEL
from steelyard.io.errors import InputError
from steelyard.io.transcoding import cell_text
from steelyard.losses import class_labels, decision_point
from steelyard.report.evidence import Evidence, Mistake
from steelyard.report.page import Content
from steelyard.scoring import description, evaluation
from steelyard.scoring.contributions import Explainer
from steelyard.scoring.file_scores import FileScores, ScoredBlock
from steelyard.scoring.loaded_model import LearnedModel
from steelyard.scoring.scores import Scores

_WORST = 10  # mistakes
_LOOKED_AT = 100  # of each block: some may be alike
_PARTS = 6  # of a prediction that is explained
_LONGEST = 160  # letters of a cell
_MOST_CELLS = 12
_FEATURES = 12  # listed, of either sign


def gather(loaded: LearnedModel, files: FileScores, held_out: Holdout = None) -> Content:
    """Score the files, or the rows of them that were held out, and collect what the page says."""
    collector = _Collector(loaded, files)
    quality = evaluation.measure(loaded, files, held_out=held_out, watch=collector.add)
    spec, evidence, positive = files.spec, collector.evidence(), 1
    threshold, meaning = 0.5, loaded.meaning
    if meaning.has_probabilities and len(loaded.class_names or ()) == 2:
        border = meaning.of(np.array([decision_point(loaded.loss)]))
        threshold = float(border.probability[0])
    if loaded.class_names is not None and quality.get("positive_class") == loaded.class_names[0]:
        positive, threshold = 0, 1.0 - threshold
        evidence = evidence.of_other_class(probable=meaning.has_probabilities)
    named = [] if spec.columns is None else spec.columns.with_role(LABEL)
    return Content(
        model=loaded.path.name,
        files=[Path(path).name + (" (held-out rows)" if held_out else "") for path in files.stream.paths],
        label=named[0] if named else None,
        classes=loaded.class_names,
        quality=quality,
        inspected=description.describe(loaded, 0),
        deciding=collector.deciding(),
        training=loaded.content.training,
        evidence=evidence,
        probable=meaning.has_probabilities,
        threshold=threshold,
        positive=positive,
    )


class _Collector:
    """Takes the scored rows block by block, and keeps the worst mistakes with their explanations."""

    def __init__(self, loaded: LearnedModel, files: FileScores) -> None:
        self._loaded, self._columns = loaded, files.spec.columns
        self._models = list(map(freeze, loaded.engine.each_model()))
        self._explainer = Explainer(loaded, self._models, _PARTS)
        self._parts: list[tuple[Any, ...]] = []
        self._moments = np.zeros((2, loaded.engine.features))
        self._weight = 0.0
        self._worst: list[Mistake] = []
        self._first = 1
        self._together = grouped_rows.ROWS if files.spec.counted else 1
        self._records = None
        with suppress(InputError):  # files with different columns make no one table, which is no harm here
            if files.records is not None:
                files.records.check_one_table()
                self._records = files.records

    def evidence(self) -> Evidence:
        """All rows; the worst are explained by how they differ from the average row."""
        scores, actual, weights, right = map(np.concatenate, zip(*self._parts, strict=True))
        average = self._moments[0] / self._weight
        for mistake in self._worst:
            rows, prediction = mistake.row
            mistake.about = self._explainer.explain(rows, 0, prediction, average)
        return Evidence(scores, actual, weights, right, self._worst)

    def add(self, block: ScoredBlock) -> None:
        """Take the rows of a block; those without a weight do not count."""
        examples = block.examples
        scores, codes, sizes = self._judge(block.scores, examples.labels)
        counted = examples.sample_weight > 0.0
        right = sizes == 0.0
        several = len(self._loaded.class_names or ()) > 2
        columns = scores, right.astype(np.float64) if several else codes, examples.sample_weight, right
        self._parts.append(tuple(column[counted] for column in columns))
        self._measure_spread(examples)
        sizes = np.where(counted, sizes, 0.0)
        for k in np.argsort(-sizes, kind="stable")[:_LOOKED_AT].tolist():
            size = float(sizes[k])
            if size > 0.0 and (len(self._worst) < _WORST or size > self._worst[-1].size):
                self._keep(self._mistake(block, k, size, codes))
        self._first += len(examples) // self._together

    def _mistake(self, block: ScoredBlock, k: int, size: float, codes: Any) -> Mistake:
        names, examples = self._loaded.class_names, block.examples
        actual = f"{examples.labels[k]:g}" if names is None else names[int(codes[k])]
        cells, tag = self._cells(block, k), block.parsed.tag_texts()[k].decode("utf-8", "replace")
        row = examples.take(np.array([k])), block.scores.raw[k]
        return Mistake(size, self._first + k // self._together, tag, actual, cells, row)

    def _keep(self, mistake: Mistake) -> None:
        """Among the worst, unless there is one just like it."""
        alike = [each for each in self._worst if (each.size, each.cells) == (mistake.size, mistake.cells)]
        if not alike or not mistake.cells:
            self._worst = sorted([*self._worst, mistake], key=lambda each: -each.size)[:_WORST]

    def _measure_spread(self, examples: Examples) -> None:
        weights = np.repeat(examples.sample_weight, np.diff(examples.indptr))
        values = examples.values.astype(np.float64)
        for row, amounts in enumerate((weights * values, weights * values**2)):
            self._moments[row] += np.bincount(examples.indices, amounts, self._moments.shape[1])
        self._weight += float(examples.sample_weight.sum())

    def deciding(self) -> list[tuple[str, list[tuple[str, float]]]]:
        """Features by coefficient × standard deviation, the largest of either sign; of each class."""
        mean, square = self._moments / self._weight
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        names, found = self._loaded.feature_names, []
        models = self._models
        most = _FEATURES if len(models) == 1 else _FEATURES // 2
        for number, model in enumerate(models):
            sizes = model.coefficients() * spread
            order = np.argsort(-sizes, kind="stable")
            chosen = [k for k in order[:most] if sizes[k] > 0.0] + [
                k for k in order[-most:] if sizes[k] < 0.0
            ]
            title = "" if len(models) == 1 else (self._loaded.class_names or [])[number]
            found.append((title, [(names.get(int(k), f"#{k}"), float(sizes[k])) for k in chosen]))
        return found

    def _judge(self, scores: Scores, labels: Any) -> tuple[Any, Any, Any]:
        """(score, label as a number, how wrong) of each row; 0 is right."""
        loaded, raw, classes = self._loaded, scores.raw, self._loaded.class_names
        labels = np.nan_to_num(labels)
        if classes is None:
            return raw, labels, np.abs(raw - labels)
        low, high = class_labels(loaded.loss)
        codes = labels if len(classes) > 2 else (labels > 0.5 * (low + high)).astype(np.float64)
        rows = np.arange(len(codes))
        if scores.meaning.has_probabilities:
            sure, ranks = scores.probabilities[rows, scores.codes], scores.probabilities[:, 1]
        else:
            sure = np.abs(raw) if raw.ndim == 1 else raw[rows, scores.codes]
            sure = sure - sure.min(initial=0.0) + 1.0
            ranks = raw if raw.ndim == 1 else raw[:, 1]
        return ranks, codes, np.where(scores.codes == codes, 0.0, np.maximum(sure, 1e-9))

    def _cells(self, block: ScoredBlock, k: int) -> list[tuple[str, str]]:
        """The features of one row as they stand in the table, cut short."""
        records, columns, parsed = self._records, self._columns, block.parsed
        if records is None or columns is None:
            return []
        read = np.flatnonzero(records.read(parsed))
        if self._together * len(read) != len(
            block
        ):  # rows with labels that do not suit the loss were left out
            return []
        row = records.row(parsed.block, int(read[k // self._together]))
        shown = [(name, cell_text(value)) for name, value in row.items() if name in columns.features]
        return [
            (name, text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
            for name, text in shown[:_MOST_CELLS]
        ]
