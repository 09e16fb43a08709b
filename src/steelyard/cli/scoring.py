"""What commands that score have in common: the model and the files that options name."""

from pathlib import Path
from typing import Any

import click

from steelyard.cli import options
from steelyard.cli.common import tell
from steelyard.cli.wording import problem_texts
from steelyard.io.stream import Stream
from steelyard.scoring import loaded_model
from steelyard.scoring.file_scores import FileScores, ScoringModel, ScoringOptions
from steelyard.scoring.loaded_model import LearnedModel, LoadedModel


def load(path: Path, loss: str | None, text: str | None = None) -> LoadedModel:
    """A model that predicts; `--loss module:Class` gives the loss, if it was trained with a user's own."""
    return loaded_model.load_to_predict(path, options.own_loss(loss)).for_text(text)


def load_learned(path: Path, loss: str | None) -> LearnedModel:
    """A model with all that it has learned."""
    return loaded_model.load(path, options.own_loss(loss))


def score_files(model: ScoringModel, paths: list[str], given: dict[str, Any], **further: bool) -> FileScores:
    """The files with their scores, read as the options of the command say."""
    run, labels, encoding = options.run_options(given), given.get("labels"), given.get("encoding")
    return FileScores(model, paths, ScoringOptions(run, labels, encoding, **further), tell)


def tell_skipped(stream: Stream) -> None:
    """Name the first of the lines that were left out, on standard error."""
    for problem in problem_texts(stream.problems):
        click.echo(f"skipped: {problem}", err=True)
