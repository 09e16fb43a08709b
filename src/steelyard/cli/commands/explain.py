"""`steelyard explain`: what each prediction is made of."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.common import tell
from steelyard.cli.help_examples import EXAMPLES
from steelyard.engine import probabilities
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.engine.loaded_model import LoadedModel
    from steelyard.model import Model


@click.command(epilog=EXAMPLES["explain"])
@options.MODEL
@options.FILES
@click.option(
    "--top", type=click.IntRange(1), default=5, show_default=True,
    help="How many contributions to list for each row.",
)  # fmt: skip
@click.option(
    "--rows", type=click.IntRange(1), default=10, show_default=True,
    help="How many rows to explain, starting with the first.",
)  # fmt: skip
@click.option(
    "--row", "numbers", type=click.IntRange(1), multiple=True, metavar="N",
    help="Explain this row, counted from 1 without the header; may be repeated.",
)  # fmt: skip
@click.option("--tag", "wanted_tags", multiple=True, metavar="TAG",
              help="Explain rows with this tag; may be repeated.")  # fmt: skip
@options.SCORING
@options.JSON
def command(
    model: Path, files: tuple[str, ...], top: int, rows: int, numbers: tuple[int, ...],
    wanted_tags: tuple[str, ...], as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Show which features contribute most to each prediction, by name.

    A contribution is coefficient × value. The contributions, the bias and the row's offset add up to the
    prediction. With more than two classes, they add up to the prediction of the predicted class minus that of
    the runner-up.
    """
    from steelyard.cli import scoring
    from steelyard.engine import loaded_model
    from steelyard.io import sources
    from steelyard.io.absent_columns import AbsentColumns

    with options.errors():
        paths = sources.expand(files)
        loaded, models = loaded_model.load_to_explain(model, options.own_loss(given["loss"]))
        loaded = loaded.for_text(given["text"])
        explainer = Explainer(loaded, models, top)
        spec, stream = scoring.score(loaded, paths, given)
        labels = scoring.RawLabels(spec)
        missing, first = {*numbers, *wanted_tags}, 1
        for parsed in AbsentColumns(spec, tell).watch(stream):
            predictions, tags = scoring.predictions_of(parsed), scoring.tags(parsed)
            names = [tag.decode("utf-8", "replace") for tag in tags]
            if numbers or wanted_tags:
                chosen = [k for k, tag in enumerate(names) if first + k in numbers or tag in wanted_tags]
            else:
                chosen = list(range(min(len(names), rows - first + 1)))
            raw_labels = labels.read(parsed) if chosen else []
            for k in chosen:
                row = {"row": first + k, "tag": names[k], "label": raw_labels[k]}
                row |= explainer.explain(parsed.examples, k, predictions[k])
                click.echo(json.dumps(row) if as_json else _text(row))
                missing -= {first + k, names[k]}
            first += len(names)
            if not missing and not wanted_tags and first > rows:
                return
        if missing:
            what = ", ".join(f"row {each}" if isinstance(each, int) else f"tag {each!r}" for each in missing)
            raise InputError(f"there is no {what}; there are {counted(first - 1, 'row')}")


class Explainer:
    """Contributions of features to a prediction; of several classes to the lead of the best over the next."""

    def __init__(self, loaded: "LoadedModel", models: "list[Model]", top: int) -> None:
        self._models = models
        self._loss, self._calibration = loaded.loss, loaded.content.calibration
        known = self._calibration is not None or probabilities.has_probabilities(self._loss)
        self._probable = known and loaded.class_names is not None
        self._coefficients = [model.coefficients() for model in self._models]
        self._classes, self._names, self._top = loaded.class_names, loaded.feature_names, top

    def explain(self, examples: Any, row: int, prediction: Any, average: Any = None) -> dict[str, Any]:
        """The largest contributions; with the `average` value of each feature, those of the difference."""
        span = slice(int(examples.indptr[row]), int(examples.indptr[row + 1]))
        indices, values = examples.indices[span], examples.values[span]
        about = self._decision(prediction)
        offset = 0.0 if examples.offsets is None else float(examples.offsets[row])
        weights, bias = self._coefficients[0][indices].astype(np.float64), self._models[0].bias
        if len(self._models) > 1:
            assert self._classes is not None
            best, other = np.argsort(-prediction, kind="stable")[:2].tolist()
            about |= {"class": self._classes[best], "runner_up": self._classes[other]}
            weights = (
                self._coefficients[best][indices].astype(np.float64) - self._coefficients[other][indices]
            )
            bias = self._models[best].bias - self._models[other].bias
            prediction, offset = prediction[best] - prediction[other], 0.0
        parts = weights * (values if average is None else values - average[indices])
        chosen = np.argsort(-np.abs(parts), kind="stable")[: self._top]
        contributions = [
            {
                "feature": self._names.get(int(indices[c]), f"#{indices[c]}"),
                "value": float(values[c]),
                "weight": float(weights[c]),
                "contribution": float(parts[c]),
            }
            for c in chosen.tolist()
        ]
        figures = {"prediction": float(prediction), "bias": bias, "offset": offset}
        return about | figures | {"contributions": contributions}

    def _decision(self, prediction: Any) -> dict[str, Any]:
        """The predicted class and its probability, where there are classes."""
        if self._classes is None:
            return {}
        predictions = np.asarray([prediction])
        code = int(probabilities.decide(self._loss, predictions)[0])
        chance = None
        if self._probable:
            chances = probabilities.class_probabilities(self._loss, predictions, self._calibration)
            chance = float(chances[0, code])
        return {"predicted": self._classes[code], "probability": chance}


def _text(row: dict[str, Any]) -> str:
    label = row["label"]
    shown = "" if label is None else f", label {label}" if isinstance(label, str) else f", label {label:g}"
    tag = f" {row['tag']}" if row["tag"] else ""
    offset = f", offset {row['offset']:.6f}" if row["offset"] else ""
    what = f"{row['class']} ahead of {row['runner_up']} by" if "class" in row else "prediction"
    decided = ""
    if "predicted" in row:
        sure = "" if row["probability"] is None else f" with probability {row['probability']:.4f}"
        decided = f"{row['predicted']}{sure}, "
    about = f"row {row['row']}{tag}: {decided}{what} {row['prediction']:.6f}{shown}"
    about += f" (bias {row['bias']:.6f}{offset})"
    parts = (
        f"  {part['contribution']:>+12.6f} = {part['weight']:.6f} × {part['value']:g}  {part['feature']}"
        for part in row["contributions"]
    )
    return "\n".join([about, *parts])
