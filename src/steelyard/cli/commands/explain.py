"""`steelyard explain`: what each prediction is made of."""

import json
from pathlib import Path
from typing import Any

import click

from steelyard._messages import counted
from steelyard.cli import options
from steelyard.cli.help_examples import EXAMPLES
from steelyard.io.errors import InputError


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
    from steelyard.io import sources
    from steelyard.scoring.contributions import Explainer
    from steelyard.scoring.loaded_model import load_to_explain
    from steelyard.scoring.raw_labels import RawLabels

    with options.errors():
        paths = sources.expand(files)
        loaded, models = load_to_explain(model, options.own_loss(given["loss"]))
        loaded = loaded.for_text(given["text"])
        explainer = Explainer(loaded, models, top)
        scored = scoring.score_files(loaded, paths, given)
        labels = RawLabels(scored.spec)
        missing, first = {*numbers, *wanted_tags}, 1
        for block in scored:
            names = [tag.decode("utf-8", "replace") for tag in block.parsed.tag_texts()]
            if numbers or wanted_tags:
                chosen = [k for k, tag in enumerate(names) if first + k in numbers or tag in wanted_tags]
            else:
                chosen = list(range(min(len(names), rows - first + 1)))
            raw_labels = labels.read(block.parsed) if chosen else []
            for k in chosen:
                row = {"row": first + k, "tag": names[k], "label": raw_labels[k]}
                row |= explainer.explain(block.examples, k, block.scores.raw[k])
                click.echo(json.dumps(row) if as_json else _text(row))
                missing -= {first + k, names[k]}
            first += len(names)
            if not missing and not wanted_tags and first > rows:
                return
        if missing:
            what = ", ".join(f"row {each}" if isinstance(each, int) else f"tag {each!r}" for each in missing)
            raise InputError(f"there is no {what}; there are {counted(first - 1, 'row')}")


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
