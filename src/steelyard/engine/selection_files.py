"""A contest in a model file. The leader is the model of the file; all others lie beside it, by number.

So a file of one class against another, or of numbers, is read by whoever reads model files. With a model
for each class the first one means nothing alone, and the file says so by its format.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from steelyard import model as models
from steelyard.engine.selection import Selection
from steelyard.learn import lanes
from steelyard.losses import Loss
from steelyard.model import Model

_APART = ("learning_rate", "initial_t", "power_t")  # in which the settings may differ


def save(contest: Selection, path: str | Path, extra: dict[str, Any]) -> None:
    """Write all of it, replacing the file in one move."""
    first = contest.leader * contest.models_each
    about = {
        "classes": contest.classes,
        "first": first,
        "settings": [{name: getattr(each, name) for name in _APART} for each in contest.settings],
    }
    arrays: dict[str, NDArray[Any]] = {
        "contest.error": contest.error,
        "contest.alive": contest.fleet.scalars(lanes.ALIVE),
    }
    for number in range(len(contest.fleet)):
        if number != first:
            stored = contest.fleet.model(number).compact()
            arrays |= {f"{number}.{name}": array for name, array in stored.items()}
    contest.fleet.model(first).save(
        path, extra | {"contest": about}, arrays, one_of_several=contest.models_each > 1
    )


def load(
    path: str | Path, loss: Loss | type[Loss] | None
) -> tuple[Model | Selection, dict[str, Any], dict[str, NDArray[Any]]]:
    """The contest, or the one model where there is no contest; and what else was kept, as in `load_all`."""
    model, extra, arrays = models.load_all(path, loss, one_of_several=True)
    if "contest" not in extra:
        return model, extra, arrays
    about = extra.pop("contest")
    try:
        settings = [replace(model.settings, **each) for each in about["settings"]]
        contest = Selection(settings, int(about["classes"]), model.features)
        contest.fleet.put(int(about["first"]), model)
        contest.error = arrays["contest.error"]
        contest.fleet.set_scalars(lanes.ALIVE, arrays["contest.alive"])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{path}: not a model file, or a damaged one ({error!r})") from None
    for number in range(len(contest.fleet)):
        if number != about["first"]:
            other = Model(settings[number // contest.models_each], model.features)
            prefix = f"{number}."
            own = {k.removeprefix(prefix): array for k, array in arrays.items() if k.startswith(prefix)}
            models.fill(path, other, own)
            contest.fleet.put(number, other)
    return contest, extra, arrays
