"""A model file of the command line: the model, how its files are read, and the names of its features.

The checkpoint of a run that is not through also knows how far it was.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from steelyard import model as models
from steelyard import weight_summary
from steelyard.cli.training import NOTHING_BEFORE, Totals, Training
from steelyard.features.names import Names
from steelyard.io import input_spec as readings
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.losses import Loss
from steelyard.model import Model


@dataclass(frozen=True)
class Unfinished:
    """A run that was cut short."""

    paths: list[str]
    position: tuple[int, int]
    totals: Totals
    options: dict[str, Any]
    """Those of the command line that decide what is still to be learned."""


@dataclass(frozen=True)
class Stored:
    """What is in the file."""

    path: Path
    model: Model
    reading: InputSpec
    names: Names | None
    unfinished: Unfinished | None


def save(
    path: Path,
    model: Model,
    reading: InputSpec,
    names: Names | None,
    run: tuple[list[str], dict[str, Any], Training] | None,
) -> None:
    """Write it all in one move. `run` is given for a checkpoint: files, options, the training under way."""
    extra: dict[str, Any] = {"reading": reading.as_json()}
    arrays: dict[str, NDArray[Any]] = {} if names is None else names.arrays()
    if run is not None:
        paths, options, training = run
        totals = training.totals
        extra["run"] = {
            "paths": paths,
            "options": options,
            "position": training.position,
            "rows": totals.rows,
            "learned": totals.learned,
            "weights": asdict(totals.weights),
            "held": [totals.held_loss, totals.held_weight],
            "changes": [totals.last_label, totals.label_changes],
            "before": totals.before,
        }
        arrays |= totals.labels.arrays()
    model.save(path, extra, arrays)


def load(path: Path, loss: type[Loss] | None = None) -> Stored:
    """What `save` has written; for a model with a user's own loss, with the class of it."""
    model, extra, arrays = models.load_all(path, loss)
    if "reading" not in extra:
        raise InputError(
            f"{path}: a model made in Python, which does not know how files are read; load it there"
        )
    try:
        reading = readings.from_json(extra["reading"])
        names = Names.from_arrays(reading.features, arrays) if "names_index" in arrays else None
        unfinished = _unfinished(extra["run"], arrays) if "run" in extra else None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: not a model file, or a damaged one ({error!r})") from None
    if reading.features != model.features:
        raise InputError(
            f"{path}: a damaged model: its files have {reading.features} features, itself {model.features}"
        )
    return Stored(path, model, reading, names, unfinished)


def _unfinished(run: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Unfinished:
    totals = Totals(run["rows"], run["learned"])
    totals.weights = weight_summary.WeightSummary(**run["weights"])
    totals.held_loss, totals.held_weight = run["held"]
    totals.last_label, totals.label_changes = run["changes"]
    loss, weight = run.get("before", NOTHING_BEFORE)  # earlier checkpoints do not say
    totals.before = loss, weight
    totals.labels.restore(arrays)
    return Unfinished(run["paths"], (run["position"][0], run["position"][1]), totals, run["options"])
