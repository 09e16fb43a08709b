"""`steelyard explain`: what each prediction is made of."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from steelyard.cli import options

if TYPE_CHECKING:
    from steelyard.cli.scoring import LoadedModel


@click.command(epilog=options.EXAMPLES["explain"])
@options.MODEL
@options.FILES
@click.option(
    "--top", type=click.IntRange(1), default=5, show_default=True,
    help="How many contributions to list for each row.",
)  # fmt: skip
@click.option(
    "--rows", type=click.IntRange(1), default=10, show_default=True,
    help="How many rows to explain, from the first on.",
)  # fmt: skip
@options.ENCODING
@options.OWN_LOSS
@options.THREADS
@options.ON_ERROR
@options.JSON
def command(model: Path, files: tuple[str, ...], top: int, rows: int, as_json: bool, **given: Any) -> None:
    """Show which features contribute most to each prediction, by name.

    A contribution is coefficient × value. The contributions, the bias and the row's offset add up to the
    prediction. With more than two classes, they add up to the prediction of the predicted class minus that of
    the runner-up.
    """
    from steelyard.cli import scoring
    from steelyard.io import sources

    with options.errors():
        paths = sources.expand(files)
        loaded = scoring.load(model, given["loss"])
        explainer = _Explainer(loaded, top)
        spec, stream = loaded.score(paths, given)
        labels = scoring.RawLabels(spec)
        number = 0
        for parsed in stream:
            predictions, raw_labels = scoring.predictions_of(parsed), labels.read(parsed)
            for k, tag in enumerate(scoring.tags(parsed)):
                if number == rows:
                    return
                number += 1
                row = {"row": number, "tag": tag.decode("utf-8", "replace"), "label": raw_labels[k]}
                row |= explainer.explain(parsed.examples, k, predictions[k])
                click.echo(json.dumps(row) if as_json else _text(row))


class _Explainer:
    """Contributions of features to a prediction; of several classes to the lead of the best over the next."""

    def __init__(self, loaded: "LoadedModel", top: int) -> None:
        self._models = loaded.engine.models()
        self._coefficients = [model.coefficients() for model in self._models]
        self._classes, self._names, self._top = loaded.class_names, loaded.feature_names, top

    def explain(self, examples: Any, row: int, prediction: Any) -> dict[str, Any]:
        span = slice(int(examples.indptr[row]), int(examples.indptr[row + 1]))
        indices, values = examples.indices[span], examples.values[span]
        about: dict[str, Any] = {}
        offset = 0.0 if examples.offsets is None else float(examples.offsets[row])
        weights, bias = self._coefficients[0][indices].astype(np.float64), self._models[0].bias
        if len(self._models) > 1:
            assert self._classes is not None
            best, other = np.argsort(-prediction, kind="stable")[:2].tolist()
            about = {"class": self._classes[best], "runner_up": self._classes[other]}
            weights = (
                self._coefficients[best][indices].astype(np.float64) - self._coefficients[other][indices]
            )
            bias = self._models[best].bias - self._models[other].bias
            prediction, offset = prediction[best] - prediction[other], 0.0
        parts = weights * values
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


def _text(row: dict[str, Any]) -> str:
    label = row["label"]
    shown = "" if label is None else f", label {label}" if isinstance(label, str) else f", label {label:g}"
    tag = f" {row['tag']}" if row["tag"] else ""
    offset = f", offset {row['offset']:.6f}" if row["offset"] else ""
    what = f"{row['class']} ahead of {row['runner_up']} by" if "class" in row else "prediction"
    about = f"row {row['row']}{tag}: {what} {row['prediction']:.6f}{shown} (bias {row['bias']:.6f}{offset})"
    parts = (
        f"  {part['contribution']:>+12.6f} = {part['weight']:.6f} × {part['value']:g}  {part['feature']}"
        for part in row["contributions"]
    )
    return "\n".join([about, *parts])
