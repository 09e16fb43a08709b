"""The commands that are tried, with data that is small enough for hundreds of runs a minute."""

import functools
from pathlib import Path
from typing import Any

from fuzzing.commands import must
from fuzzing.soak.dialogues import Ask, Certify
from fuzzing.soak.file_commands import FileCommand
from fuzzing.soak.page import LabellingPage
from fuzzing.soak.server import PredictionService
from steelyard.engine import file_rows
from steelyard.filtering import inputs, run
from steelyard.io.stream import Stream
from steelyard.labelling.session import LabellingSession
from tests.cli.running import rows as vw_rows
from tests.filtering.corpus import rows, write_jsonl
from tests.labelling.projects import answer, begin

_SMALL = ("--bits", 10, "--threads", 1)


class Data:
    """Files that all scenarios read, in a folder that everybody may read."""

    def __init__(self, folder: Path) -> None:
        # small blocks, so that there are many moments at which something is on disk
        file_rows.Stream = functools.partial(Stream, block_size=2000)  # type: ignore[attr-defined, assignment]
        inputs.BLOCK, run._CHECKPOINT = 2048, 2
        folder.chmod(0o755)
        self.folder, self.file, self.table = folder, folder / "rows.vw", folder / "rows.jsonl"
        self.corpus, self.model = folder / "corpus", folder / "model"
        self.file.write_text(vw_rows(400, weights=True))
        self.parts = [folder / f"{number}.vw" for number in range(4)]
        for number, part in enumerate(self.parts):
            part.write_text(vw_rows(100, number))
        write_jsonl(self.table, rows(400, 1))
        for number in range(3):
            write_jsonl(self.corpus / f"{number}.jsonl.gz", rows(200, number))
        write_jsonl(folder / "more.jsonl", rows(400, 2))
        for name, table in (("model", "rows.jsonl"), ("other", "more.jsonl")):
            must("train", folder / table, "--label", "quality", "--bits", 10, "-o", folder / name)


def _train(data: Data) -> FileCommand:
    more = ["--passes", 12, "--holdout", 9, *_SMALL, "--checkpoint-every", 50]
    return _resumable([data.file], more, [])


def _cluster(data: Data) -> FileCommand:
    # with several processes: `make test-cluster`
    where = ["--cluster", "local:1", "--parts", 2, "--rounds", 2, "--passes", 3]
    return _resumable(data.parts, [*_SMALL, *where], where)


def _resumable(files: list[Path], more: list[Any], again: list[Any]) -> FileCommand:
    def command(folder: Path, *more: Any) -> list[Any]:
        return ["train", *files, *more, "-o", folder / "m", "--force"]

    def resumed(folder: Path) -> list[Any]:
        checkpoint = folder / "m.checkpoint"
        return command(folder, *(["--resume", checkpoint, *again] if checkpoint.exists() else more))

    return FileCommand(
        lambda folder: command(folder, *more), resumed, lambda folder: command(folder, *_SMALL)
    )


def _sweep(data: Data) -> FileCommand:
    sweep = ["sweep", data.file, "--learning-rate", "0.1,0.5,1,2", "--passes", 20, *_SMALL]

    def command(folder: Path) -> list[Any]:
        own = ["--resume", folder / "state", "-o", folder / "s.csv", "--save", folder / "best", "--force"]
        return [*sweep, *own]

    return FileCommand(command, command, command, ignored=("s.csv",))


def _once(command: Any, rival: Any) -> FileCommand:
    """A command that is simply run again, over what is there."""
    return FileCommand(
        command, lambda folder: [*command(folder), "--force"], lambda folder: [*rival(folder), "--force"]
    )


def _convert(data: Data) -> FileCommand:
    def command(folder: Path, files: int = 20) -> list[Any]:
        return ["convert", *[data.file] * files, "-o", folder / "o.arrow", *_SMALL]

    return _once(command, functools.partial(command, files=7))


def _merge(data: Data) -> FileCommand:
    def command(folder: Path, *more: Any) -> list[Any]:
        return ["merge", data.model, data.folder / "other", *more, "-o", folder / "m", "--threads", 1]

    return _once(
        lambda folder: command(folder, "--choose", data.table), lambda folder: command(folder, "--by", "mean")
    )


def _report(data: Data) -> FileCommand:
    def command(folder: Path, model: str = "model") -> list[Any]:
        return ["report", data.folder / model, data.table, "-o", folder / "page.html", "--threads", 1]

    return _once(command, functools.partial(command, model="other"))


def _filter(data: Data) -> FileCommand:
    def command(folder: Path) -> list[Any]:
        return ["filter", data.model, data.corpus, "-o", folder / "kept", "--keep", "p>=0.5", "--threads", 1]

    return FileCommand(command, command, command)


def _export(data: Data) -> FileCommand:
    own = data.folder / "labelled"
    own.mkdir()
    with begin(own) as project:
        session = LabellingSession(project)
        session.start()
        answer(session, 30)
        session.worker.wait()
        session.close()
        journal = project.path

    def command(folder: Path) -> list[Any]:
        return ["active", "export", journal, "-o", folder / "o.csv", "--model", folder / "m"]

    return _once(command, command)


SCENARIOS: dict[str, Any] = {
    "train": _train, "train --cluster": _cluster, "sweep": _sweep, "convert": _convert, "merge": _merge,
    "report": _report, "filter": _filter, "active export": _export, "active ask": lambda data: Ask(),
    "active certify": lambda data: Certify(data.folder), "active label": lambda data: LabellingPage(),
    "serve": lambda data: PredictionService(data.model, data.table),
}  # fmt: skip
