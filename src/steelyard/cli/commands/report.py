"""`steelyard report`: one page about a model and the labelled rows of files."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from steelyard.cli import options
from steelyard.cli.commands import evaluate, inspect
from steelyard.cli.commands.explain import Explainer
from steelyard.cli.common import check_outputs
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.scoring import load_learned, predictions_of, tags
from steelyard.engine import probabilities
from steelyard.engine.holdout import Holdout
from steelyard.engine.loaded_model import LearnedModel
from steelyard.engine.still_models import still
from steelyard.examples import Examples
from steelyard.io import grouped_rows, sources
from steelyard.io.columns import LABEL
from steelyard.io.errors import InputError
from steelyard.io.table_records import records_of
from steelyard.io.transcoding import cell_text
from steelyard.losses import class_labels, decision_point
from steelyard.report import page
from steelyard.report.evidence import Evidence, Mistake

if TYPE_CHECKING:
    from steelyard.io.blocks import ParsedBlock
    from steelyard.io.input_spec import InputSpec

_WORST = 10  # mistakes
_LOOKED_AT = 100  # of each block: some may be alike
_PARTS = 6  # of a prediction that is explained
_LONGEST = 160  # letters of a cell
_MOST_CELLS = 12
_FEATURES = 12  # listed, of either sign


@click.command(epilog=EXAMPLES["report"])
@options.MODEL
@options.FILES
@click.option(
    "-o", "--output", type=options.FILE_PATH, default=Path("report.html"), metavar="PAGE", show_default=True,
    help="Where to write the page.",
)  # fmt: skip
@options.FORCE
@options.HELD_OUT
@options.EVALUATED_LABELS
@options.SCORING
def command(model: Path, files: tuple[str, ...], output: Path, *, held_out: bool, **given: Any) -> None:
    """Write a page about a model and labelled rows: how good it is, why, and where it errs.

    The page holds what evaluate says, curves, a threshold to try, what decides, the worst mistakes with
    their explanations, and what the model learned from. It is one file, which works without a network.
    Of two classes, curves are of the second, or of the first if that is clearly the rarer one and the order
    is not one that you named with train --labels.
    """
    with options.errors():
        paths = sources.expand(files)
        check_outputs([output], [model, *paths], force=given["force"])
        loaded = load_learned(model, given["loss"]).for_text(given["text"])
        rows = evaluate.held_out_rows(loaded, paths) if held_out else None
        content = gather(loaded, paths, given, rows)
        page.write(output, content)
    click.echo(f"wrote {output}: a page for your browser")


def gather(
    loaded: LearnedModel, paths: list[str], given: dict[str, Any], held_out: Holdout = None
) -> page.Content:
    """Predict the files, or the rows of them that were held out, and collect what the page says."""
    collector = _Collector(loaded, paths)
    quality = evaluate.measure(loaded, paths, given, collector.begin, held_out=held_out)
    spec, evidence, positive = collector.spec, collector.evidence(), 1
    threshold = 0.5
    if collector.probable and len(loaded.class_names or ()) == 2:
        border = np.array([decision_point(loaded.loss)])
        chances = probabilities.class_probabilities(loaded.loss, border, loaded.content.calibration)
        threshold = float(chances[0, 1])
    if loaded.class_names is not None and quality.get("positive_class") == loaded.class_names[0]:
        positive, threshold = 0, 1.0 - threshold
        evidence = evidence.of_other_class(probable=collector.probable)
    named = [] if spec.columns is None else spec.columns.with_role(LABEL)
    return page.Content(
        model=loaded.path.name,
        files=[Path(path).name + (" (held-out rows)" if held_out else "") for path in paths],
        label=named[0] if named else None,
        classes=loaded.class_names,
        quality=quality,
        inspected=inspect.describe(loaded, 0),
        deciding=collector.deciding(),
        training=loaded.content.training,
        evidence=evidence,
        probable=collector.probable,
        threshold=threshold,
        positive=positive,
    )


class _Collector:
    """Takes the predicted rows block by block, and keeps the worst mistakes with their explanations."""

    spec: "InputSpec"

    def __init__(self, loaded: LearnedModel, paths: list[str]) -> None:
        self._loaded, self._paths = loaded, paths
        self._models = list(map(still, loaded.engine.each_model()))
        self._explainer = Explainer(loaded, self._models, _PARTS)
        known = loaded.content.calibration is not None or probabilities.has_probabilities(loaded.loss)
        self.probable = known and loaded.class_names is not None
        self._parts: list[tuple[Any, ...]] = []
        self._moments = np.zeros((2, loaded.engine.features))
        self._weight = 0.0
        self._worst: list[Mistake] = []
        self._first = 1

    def begin(self, spec: "InputSpec") -> Callable[["ParsedBlock"], None]:
        self.spec = spec
        self._together = grouped_rows.ROWS if spec.counted else 1
        self._records = None
        with suppress(InputError):  # files with different columns make no one table, which is no harm here
            self._records = records_of(spec, self._paths)
        return self._add

    def evidence(self) -> Evidence:
        """All rows; the worst are explained by how they differ from the average row."""
        scores, actual, weights, right = map(np.concatenate, zip(*self._parts, strict=True))
        average = self._moments[0] / self._weight
        for mistake in self._worst:
            rows, prediction = mistake.row
            mistake.about = self._explainer.explain(rows, 0, prediction, average)
        return Evidence(scores, actual, weights, right, self._worst)

    def _add(self, parsed: "ParsedBlock") -> None:
        examples, predictions = parsed.examples, predictions_of(parsed)
        scores, codes, sizes = self._judge(predictions, examples.labels)
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
                self._keep(self._mistake(parsed, k, size, codes))
        self._first += len(examples) // self._together

    def _mistake(self, parsed: "ParsedBlock", k: int, size: float, codes: Any) -> Mistake:
        names, examples = self._loaded.class_names, parsed.examples
        actual = f"{examples.labels[k]:g}" if names is None else names[int(codes[k])]
        cells, tag = self._cells(parsed, k), tags(parsed)[k].decode("utf-8", "replace")
        row = examples.take(np.array([k])), predictions_of(parsed)[k]
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

    def _judge(self, predictions: Any, labels: Any) -> tuple[Any, Any, Any]:
        """(score, label as a number, how wrong) of each row; 0 is right."""
        loaded, classes = self._loaded, self._loaded.class_names
        labels = np.nan_to_num(labels)
        if classes is None:
            return predictions, labels, np.abs(predictions - labels)
        low, high = class_labels(loaded.loss)
        codes = labels if len(classes) > 2 else (labels > 0.5 * (low + high)).astype(np.float64)
        found = probabilities.decide(loaded.loss, predictions)
        rows = np.arange(len(codes))
        if self.probable:
            chances = probabilities.class_probabilities(loaded.loss, predictions, loaded.content.calibration)
            sure, scores = chances[rows, found], chances[:, 1]
        else:
            sure = np.abs(predictions) if predictions.ndim == 1 else predictions[rows, found]
            sure = sure - sure.min(initial=0.0) + 1.0
            scores = predictions if predictions.ndim == 1 else predictions[:, 1]
        return scores, codes, np.where(found == codes, 0.0, np.maximum(sure, 1e-9))

    def _cells(self, parsed: "ParsedBlock", k: int) -> list[tuple[str, str]]:
        """The features of one row as they stand in the table, cut short."""
        records, columns = self._records, self.spec.columns
        if records is None or columns is None:
            return []
        read = np.flatnonzero(records.read(parsed))
        if self._together * len(read) != len(
            parsed.examples
        ):  # rows with labels that do not suit the loss were left out
            return []
        place = int(read[k // self._together])
        (row,) = records.rows(records.part(parsed.block, place, place + 1))
        texts = {name: cell_text(value) for name, value in zip(records.names, row, strict=True)}
        shown = [(name, texts[name]) for name in records.names if name in columns.features][:_MOST_CELLS]
        return [(name, text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…") for name, text in shown]
