"""`Explainer`: what each prediction is made of."""

from typing import Any

import numpy as np

from steelyard.model import Model
from steelyard.scoring.loaded_model import LoadedModel


class Explainer:
    """Contributions of features to a prediction; of several classes to the lead of the best over the next."""

    def __init__(self, loaded: LoadedModel, models: list[Model], top: int) -> None:
        self._models, self._meaning = models, loaded.meaning
        self._coefficients = [model.coefficients() for model in models]
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
        scores = self._meaning.of(np.asarray([prediction]))
        code = int(scores.codes[0])
        known = self._meaning.has_probabilities
        return {
            "predicted": self._classes[code],
            "probability": float(scores.probabilities[0, code]) if known else None,
        }
