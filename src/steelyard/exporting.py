"""Models as JSON, for `steelyard.predictor` and the scorer in JavaScript; as ONNX, for columns of numbers."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import _atomic_files, losses
from steelyard.io import columns as roles
from steelyard.io.errors import InputError
from steelyard.model import Model
from steelyard.predictor import FORMAT
from steelyard.scoring.loaded_model import LearnedModel
from steelyard.token_rules import ASCII

SCORER = Path(__file__).parent / "javascript" / "scorer.js"
_OPSET = 17


def as_json(model: LearnedModel, *, names: bool = True) -> dict[str, Any]:
    """The model as a predictor needs it: how rows become features, the coefficients that are not 0, and their names."""
    engine = model.engine
    settings = engine.settings[engine.best]
    if losses.name_of(settings.loss) is None:
        raise InputError(f"{model.path}: a loss of your own cannot be exported")
    content: dict[str, Any] = {
        "steelyard": FORMAT, "dtype": settings.dtype, "features": engine.features,
        "classes": model.class_names, "calibration": model.content.calibration,
        "loss": {"name": losses.name_of(settings.loss), "parameters": vars(settings.loss)},
        "decision_point": losses.decision_point(settings.loss) if model.class_names else None,
    }  # fmt: skip
    content |= _input(model)
    content["models"] = [_coefficients(each) for each in engine.each_model()]
    if names and model.feature_names:
        known = model.feature_names
        used = sorted({index for each in content["models"] for index in each["indices"]} & known.keys())
        content["names"] = {str(index): known[index] for index in used}
    return content


def _coefficients(model: Model) -> dict[str, Any]:
    """The bias and the coefficients that are not 0, in the shortest digits that give the same number."""
    weights = model.coefficients()
    indices = np.flatnonzero(weights)
    bias = model.bias if model.settings.bias else 0.0
    return {"bias": bias, "indices": indices.tolist(), "weights": [float(str(w)) for w in weights[indices]]}


def _input(model: LearnedModel) -> dict[str, Any]:
    if model.content.spec is None:
        return {"kind": "matrix"}
    spec = model.spec()
    if spec.columns is None or spec.converted:
        raise InputError(f"{model.path}: was trained on {spec.format}; tables and texts can be exported")
    if spec.interactions:
        raise InputError(f"{model.path}: has interactions, which a predictor does not make")
    used = (*roles.FEATURES, roles.BASE)
    columns = [{"name": each.name, "role": each.role} for each in spec.columns.columns if each.role in used]
    return {
        "kind": "table", "columns": columns, "missing": list(spec.columns.missing),
        "text": spec.text.as_json(),
    }  # fmt: skip


def write_json(path: Path, model: LearnedModel, *, names: bool = True) -> None:
    with _atomic_files.replacing(path) as temporary:
        text = json.dumps(as_json(model, names=names), ensure_ascii=False, separators=(",", ":"))
        temporary.write_text(text, encoding="utf-8")


def write_scorer(path: Path) -> None:
    """The scorer in JavaScript, one file without dependencies."""
    with _atomic_files.replacing(path) as temporary:
        text = SCORER.read_text(encoding="utf-8").replace("TOKEN_RULES", json.dumps(ASCII.as_json()), 1)
        temporary.write_text(text, encoding="utf-8")


def write_onnx(path: Path, model: LearnedModel) -> None:
    """A graph that takes a matrix `X` of float32 and returns `prediction`, and of classes `probability`.

    Its columns are those of the matrix that was learned, or the number columns of a table, in their order.
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise InputError('onnx is not installed: pip install "steelyard[onnx]"') from None
    weights, biases = _dense(model)
    nodes = [helper.make_node("Gemm", ["X", "weights", "bias"], ["prediction"])]
    constants = {"weights": weights.T.astype(np.float32), "bias": biases.astype(np.float32)}
    outputs = ["prediction"]
    if model.class_names is not None and model.content.calibration is not None:
        sigmoids = np.array(model.content.calibration, np.float32)
        constants |= {"slope": -sigmoids[:, 0], "shift": -sigmoids[:, 1], "bend": sigmoids[:, 2]}
        constants["one"] = np.ones(1, np.float32)
        nodes += [
            helper.make_node("Mul", ["prediction", "slope"], ["scaled"]),
            helper.make_node("Add", ["scaled", "shift"], ["margin"]),
            helper.make_node("Abs", ["margin"], ["size"]),
            helper.make_node("Mul", ["size", "bend"], ["excess"]),
            helper.make_node("Add", ["excess", "one"], ["divisor"]),
            helper.make_node("Div", ["margin", "divisor"], ["log_odds"]),
            helper.make_node("Sigmoid", ["log_odds"], ["each" if len(weights) > 1 else "probability"]),
        ]
        if len(weights) > 1:
            constants["axes"] = np.array([1], np.int64)
            nodes += [
                helper.make_node("ReduceSum", ["each", "axes"], ["total"], keepdims=1),
                helper.make_node("Div", ["each", "total"], ["probability"]),
            ]
        outputs.append("probability")
    shape: list[str | int | None] = ["rows", len(weights)]
    graph = helper.make_graph(
        nodes,
        "steelyard",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["rows", weights.shape[1]])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    if model.class_names is not None:
        helper.set_model_props(made, {"classes": json.dumps(model.class_names)})
    onnx.checker.check_model(made)
    with _atomic_files.replacing(path) as temporary:
        temporary.write_bytes(made.SerializeToString())


def _dense(model: LearnedModel) -> tuple[Any, Any]:
    """The coefficients of the columns, a row for each model, and the biases."""
    models = model.engine.models()
    every = np.stack([each.coefficients() for each in models])
    biases = np.array([each.bias if each.settings.bias else 0.0 for each in models])
    if model.content.spec is None:
        return every, biases
    from steelyard.text import hashing

    spec = model.spec()
    found = () if spec.columns is None else spec.columns.features
    if spec.interactions or not found or any(spec.columns.role(name) != roles.NUMBER for name in found):  # type: ignore[union-attr]
        raise InputError(f"{model.path}: has features that are no columns of numbers; export it as .json")
    keys = np.array([hashing.column_key(name) for name in found], np.int64) & (spec.features - 1)
    return every[:, keys], biases
