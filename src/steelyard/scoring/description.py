"""What is in a model: settings, figures, and the largest coefficients of every class, by name."""

from dataclasses import asdict
from typing import Any

import numpy as np

from steelyard import losses
from steelyard.model import Model
from steelyard.model_file import ModelFile
from steelyard.scoring.loaded_model import LearnedModel
from steelyard.scoring.metrics import finite


def describe(loaded: LearnedModel, top: int) -> dict[str, Any]:
    """The figures of a model; with more than two classes, of the model of each."""
    engine, content = loaded.engine, loaded.content
    settings = engine.settings[engine.best]
    names = loaded.feature_names
    columns = rule = None
    if content.spec is not None:
        spec = loaded.spec()
        made_from = spec.original or spec  # a converted file has the columns and classes of another
        columns, rule = spec.columns or made_from.columns, spec.label_rule or made_from.label_rule
    result: dict[str, Any] = {
        "settings": asdict(settings)
        | {
            "loss": losses.name_of(settings.loss) or type(settings.loss).__name__,
            "loss_parameters": asdict(settings.loss),
            "learning_rate": settings.rate,
            "auto": len(engine.settings) > 1,
        },
        "made_by": content.estimator,
        "reading": content.spec,
        "columns": None
        if columns is None
        else [{"name": each.name, "role": each.role, "why": each.why} for each in columns.columns],
        "labels": None if rule is None else dict(zip(rule.names, rule.values, strict=True)),
        "classes": loaded.class_names,
        "class_steps": engine.rare_class_factor,
        "calibrated": content.calibration is not None,
        "calibrated_on": _calibrated_on(content),
        "class_weight": content.parameters.get("class_weight"),
        "finished": content.run is None,
        "learned_weight": content.engine.answering.clock,
        "progressive_loss": finite(float(engine.progressive_loss[engine.best])),
        "progressive_error": finite(float(engine.progressive_error[engine.best]))
        if loaded.class_names
        else None,
        "features": engine.features,
        "nonzero": 0,
        "names": len(names),
    }
    found = []
    for model in engine.each_model():
        result["nonzero"] += int(np.count_nonzero(model.coefficients()))
        found.append(_largest(model, names, top))
    if len(found) == 1:
        return result | found[0]
    assert loaded.class_names is not None
    return result | {
        "models": [{"class": name} | own for name, own in zip(loaded.class_names, found, strict=True)]
    }


def _calibrated_on(content: ModelFile) -> str | None:
    if content.calibration is None:
        return None
    return "progressive predictions" if content.progressive_calibration else "rows held out"


def _largest(model: Model, names: dict[int, str], top: int) -> dict[str, Any]:
    weights = model.coefficients()
    order = np.argsort(weights, kind="stable")

    def entries(places: Any) -> list[dict[str, Any]]:
        return [
            {"feature": names.get(int(place), f"#{place}"), "weight": float(weights[place])}
            for place in places
        ]

    return {
        "bias": model.bias,
        "top_positive": entries([place for place in order[::-1][:top] if weights[place] > 0.0]),
        "top_negative": entries([place for place in order[:top] if weights[place] < 0.0]),
    }
