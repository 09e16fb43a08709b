"""Probabilities fitted to rows held out: they are read again and predicted when everything is learned."""

import numpy as np

from steelyard._parameters import Parameter
from steelyard.engine.calibration import Calibration, calibrate
from steelyard.engine.file_rows import FileRows
from steelyard.engine.holdout import Holdout
from steelyard.engine.protocol import Engine
from steelyard.io.errors import InputError


def check(files: FileRows, holdout: Holdout, classes: int) -> None:
    """Check that there will be rows to calibrate on, before anything is learned."""
    if holdout is None or not classes:
        raise InputError(
            "calibration on held-out rows needs classes, and rows that are not learned: ",
            Parameter("holdout", 10), ", say",
        )  # fmt: skip
    files.check_readable_again("calibration predicts the rows held out when all is learned")


def fit(engine: Engine, files: FileRows, holdout: Holdout, classes: int) -> Calibration:
    """Return the sigmoids that turn predictions of the engine into probabilities."""
    predictions, codes, weights = [], [], []
    for piece in files.rows(holdout).held_out():
        assert piece.order is not None
        rows = piece.examples.take(piece.order[piece.examples.sample_weight[piece.order] > 0.0])
        predictions.append(engine.predict(rows))
        codes.append(files.class_codes(rows.labels, classes))
        weights.append(rows.sample_weight)
    if not sum(map(len, codes)):
        raise InputError("no row with a label and a weight was held out to calibrate on")
    return calibrate(np.concatenate(predictions), np.concatenate(codes), np.concatenate(weights))
