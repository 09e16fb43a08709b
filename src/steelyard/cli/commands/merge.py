"""`steelyard merge`: one model of several that learned parts of the rows."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.common import aligned, check_outputs
from steelyard.cli.help_examples import EXAMPLES
from steelyard.cli.option_types import Choice

if TYPE_CHECKING:
    from steelyard.model_file import ModelFile

_WAYS = ("gradients", "mean")
_TRIED = ("loss", "log_loss", "accuracy")


@click.command(epilog=EXAMPLES["merge"])
@click.argument("models", nargs=-1, required=True, type=options.FILE_PATH, metavar="MODEL...")
@click.option(
    "-o", "--output", type=options.FILE_PATH, required=True, metavar="MODEL", help="Where to save the model."
)
@options.FORCE
@click.option(
    "--by", type=Choice(_WAYS), default=None,
    help="How much each model counts for a coefficient. gradients: by how much it has learned about that "
    "feature (its squared gradients); mean: by the weight of its rows.  [default: gradients]",
)  # fmt: skip
@click.option(
    "--base", type=options.FILE_PATH, metavar="MODEL",
    help="The model that all of them continued from with train --resume, if they did.",
)  # fmt: skip
@click.option(
    "--choose", multiple=True, metavar="FILE",
    help="Try both ways, and keep the one with the smaller loss on this file, which no model should have "
    "learned: the log loss, if there are probabilities.",
)  # fmt: skip
@options.OWN_LOSS
@options.THREADS
@options.ON_ERROR
@options.JSON
def command(models: tuple[Path, ...], output: Path, as_json: bool, **given: Any) -> None:
    """Merge several models, each trained on a part of the rows, into one.

    They must have been trained with the same options and have the same classes. Units and origins of
    features are reconciled. The order of the models matters only in the last digits.
    """
    from steelyard import model_file
    from steelyard.merging.model_files import merge

    with options.errors():
        read = [*models, *([given["base"]] if given["base"] else []), *given["choose"]]
        check_outputs([output], read, force=given["force"])
        _refuse_repeated(models)
        if given["choose"] and given["by"]:
            raise click.UsageError("--choose tries every way: leave out --by")
        loss = options.own_loss(given["loss"])
        contents = [model_file.load(path, loss) for path in models]
        base = None if given["base"] is None else model_file.load(given["base"], loss)
        ways = _WAYS if given["choose"] else (given["by"] or _WAYS[0],)
        merged = {way: merge(contents, base, way, models) for way in ways}
        tried = [_measured(way, output, merged[way], given) for way in ways] if given["choose"] else []
        best = min(tried, key=_criterion)["by"] if tried else ways[0]
        model_file.save(output, merged[best])
    engine = merged[best].engine
    result = {
        "models": len(models), "by": best, "weight": engine.answering.total_weight,
        "progressive_loss": engine.progressive_loss, "model": str(output), "tried": tried,
    }  # fmt: skip
    click.echo(json.dumps(result) if as_json else _text(result))


def _refuse_repeated(models: tuple[Path, ...]) -> None:
    """Refuse a model that is given twice: its rows would count twice."""
    found: set[Path] = set()
    for path in models:
        if path.resolve() in found:
            raise click.UsageError(f"{path} is given twice: its rows would count twice; leave one out")
        found.add(path.resolve())


def _measured(way: str, path: Path, content: "ModelFile", given: dict[str, Any]) -> dict[str, Any]:
    """How good a merged model is on the rows to choose by."""
    from steelyard.cli import scoring
    from steelyard.engine.protocol import restore
    from steelyard.io import sources
    from steelyard.scoring import evaluation, loaded_model

    loaded = loaded_model.loaded(path, content, restore(content.engine))
    scored = scoring.score_files(loaded, sources.expand(given["choose"]), given, labelled=True)
    found = evaluation.measure(loaded, scored)
    scoring.tell_skipped(scored.stream)
    return {"by": way} | {name: found.get(name) for name in _TRIED}


def _criterion(tried: dict[str, Any]) -> float:
    """The log loss, if there is one: merging changes the size of predictions, but hardly probabilities."""
    return float(tried["loss"] if tried["log_loss"] is None else tried["log_loss"])


def _text(result: dict[str, Any]) -> str:
    lines = []
    if result["tried"]:
        shown = [
            [each["by"], *("" if each[name] is None else f"{each[name]:.6g}" for name in _TRIED)]
            for each in result["tried"]
        ]
        lines = aligned([["by", "loss", "log loss", "accuracy"], *shown], 1)
    said = f"{counted(result['models'], 'model')} merged by {result['by']}: {result['model']}"
    return "\n".join([*lines, said])
