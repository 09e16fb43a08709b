"""`filter_files`: score the rows of files with one or more models, and write those that are kept."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from steelyard._messages import counted
from steelyard._parameters import bare, message_of
from steelyard.filtering import audit, conditions, inputs, threshold
from steelyard.filtering.audit_sample import AuditSample, Candidate
from steelyard.filtering.blocks import SKIPPING, BlockFilter, Result, UnreadableFileError, tasks
from steelyard.filtering.conditions import Condition
from steelyard.filtering.inputs import Input, Prepared, Preparer
from steelyard.filtering.run_folder import OWN, RunFolder, write_json
from steelyard.filtering.scorer import Scorers
from steelyard.filtering.statistics import Statistics
from steelyard.io.errors import DESCRIBED, InputError, Problem
from steelyard.io.read_ahead import map_ahead
from steelyard.losses import Loss
from steelyard.scoring.outputs import ArrowOutput, Output, TextOutput, partial_path

SAMPLE = 200_000  # rows from which `fraction` finds its threshold
_CHECKPOINT = 32  # blocks, that is 128 MB, after which a run can go on within a file

Progress = Callable[[str, int, int], None]


@dataclass
class FilterResult:
    """What a run did, over all files of its folder."""

    statistics: dict[str, Any]
    threshold: dict[str, Any] | None
    files: int
    """In the folder; of these were there before this run began:"""
    already_done: int
    problems: list[Problem] = field(default_factory=list)
    """The first rows of this run that could not be read."""
    failed: list[str] = field(default_factory=list)
    """Why some files could not be read; they have no output."""
    left_out: list[str] = field(default_factory=list)
    """Files of folders that are no documents."""
    audit: Path | None = None
    """Where the documents to be labelled are."""
    positives: dict[str, str] = field(default_factory=dict)
    """The class whose probability a column has, by the name of the column, where there are two."""


def filter_files(
    models: str | Path | Sequence[str | Path],
    files: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    keep: str | None = None,
    fraction: float | None = None,
    by: str | None = None,
    sample_rows: int = SAMPLE,
    rejects: str | Path | None = None,
    audit_size: int = 0,
    seed: int = 0,
    threads: int | None = None,
    skip_errors: bool = False,
    text: str | None = None,
    encoding: str | None = None,
    loss: type[Loss] | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> FilterResult:
    """Score the rows of files and write those that are kept, one output for each file.

    JSON lines, CSV, TSV, Parquet and Arrow keep their format and compression, and get columns for the
    scores. Existing outputs are not repeated: call it again to continue an interrupted run, which ends with
    the same bytes.

    Parameters
    ----------
    models : path or list of paths
        Model files that were trained on files. Scores are named after them: `quality_p`, `language_label`.
    files : path or list of paths
        Files, patterns, and folders with all files in them. Files in folders that are no documents, such as a
        README.md, are left out.
    output : path
        The folder of the outputs.
    keep : str, optional
        Which rows are kept, such as `"p[good] >= 0.9"` or `"language_label == 'en' and quality_p > 0.5"`. By
        default all.
    fraction : float, optional
        Instead of `keep`: the share of rows to be kept, those with the best scores. The threshold comes
        from a first pass over about `sample_rows` rows.
    by : str, optional
        The score that `fraction` goes by, such as `"p[good]"`, the probability of the class good. Only one
        model that predicts numbers needs none.
    rejects : path, optional
        A folder for the rows that are not kept. A file that is missing there is written again.
    audit_size : int
        Draw so many documents for labelling: see `audit_filter`.
    seed : int
        Of what is drawn.
    threads : int, optional
        Threads that parse, score and compress. By default one per core, at most 4.
    skip_errors : bool
        Leave out and count rows that cannot be read, and skip a damaged file, which then has no output. By
        default the first of these is an error.
    text : str, optional
        The column with the text, if it is not called as in the files that the models were trained on.
    encoding, loss
        The encoding of text files; the loss of models that were trained with your own.
    progress : callable, optional
        Called with a file, the bytes of it that are read, and the rows of the run so far.
    tell : callable, optional
        Called before the run with a line on which rows are kept, and one on files that are left out.

    Returns
    -------
    FilterResult
        The statistics of all files in the folder, from this run and from those before.
    """
    tell = tell or (lambda line: None)
    paths = [models] if isinstance(models, str | Path) else list(models)
    scorers = Scorers([Path(path) for path in paths], loss, text)
    found = inputs.find([files] if isinstance(files, str | Path) else files)
    if keep is not None and fraction is not None:
        raise InputError(bare("keep"), " and ", bare("fraction"), " both say what is kept: give one of them")
    if by is not None and fraction is None:
        raise InputError(bare("by"), " says what ", bare("fraction"), " goes by, and that is not given")
    if fraction is not None and not 0.0 < fraction < 1.0:
        raise InputError(f"the fraction of rows to be kept lies between 0 and 1; got {fraction}")
    if keep is None and fraction is None and rejects is not None:
        raise InputError(
            "nothing is rejected unless you say what to keep: give ", bare("keep"), " or ", bare("fraction")
        )
    folder = RunFolder(Path(output), None if rejects is None else Path(rejects))
    preparer = Preparer(scorers, encoding)
    found, left_out = preparer.documents(found)
    if left_out:
        tell(f"left out, as no documents: {counted(len(left_out), 'file')}, such as {left_out[0].path}")
    usable = threads or min(os.cpu_count() or 1, 4)
    settings: dict[str, Any] = {
        "format": 1, "block": inputs.BLOCK, "models": {each.name: each.digest for each in scorers.each},
        "keep": keep, "fraction": fraction, "by": by, "rejects": None if rejects is None else str(rejects),
        "audit": audit_size, "seed": seed, "skip_errors": skip_errors, "encoding": encoding, "text": text,
    }  # fmt: skip
    chosen = None
    condition: Condition | None = None
    if fraction is not None:
        known = folder.settings()
        chosen = None if known is None else known.get("threshold")
        if chosen is None:
            found_threshold = threshold.find(
                found, preparer, scorers, scorers.ranking(by), fraction,
                rows=sample_rows, seed=seed, threads=usable, skip_errors=skip_errors,
            )  # fmt: skip
            chosen = asdict(found_threshold)
        settings["threshold"] = chosen
        score, least = chosen["score"], chosen["value"]
        tell(f"keeping {fraction:g} of the rows, those with the highest {score}")
        condition = lambda get: get(score) >= least  # noqa: E731 - beside that of `keep`
    elif keep is not None:
        condition = conditions.parse(keep, scorers.known, scorers.classes)
        for column, name in scorers.positives.items():
            tell(f"{column} is the probability of {name!r}")
    sample = AuditSample(audit_size, seed, rejects=condition is not None) if audit_size else None
    run = _Run(
        folder, preparer, BlockFilter(scorers, condition, rejects is not None, sample),
        skip_errors, progress,
    )  # fmt: skip
    with folder.locked():
        begins = folder.settings() is None
        if rejects is not None:
            _check_rejects(Path(rejects), folder, begins=begins)
        folder.agree(settings)
        try:
            run.go(found, usable)
        except InputError:
            if begins:
                folder.forget_if_empty()
            raise
        result = run.summarise(chosen)
    result.left_out = [each.path for each in left_out]
    return result


def _check_rejects(rejects: Path, folder: RunFolder, *, begins: bool) -> None:
    """Only outputs of the same run may be there: names are those of the inputs, which would be replaced."""
    if rejects.resolve() == folder.path.resolve():
        raise InputError(
            f"{rejects}: rows that are kept and rejected would have the same files; name another"
        )
    if begins and rejects.is_dir() and any(rejects.iterdir()):
        raise InputError(f"{rejects}: is not empty, and not from this run; name another folder for rejects")


class _Open:
    """An output that is being written, with what is known of its file so far."""

    def __init__(self, prepared: Prepared, outputs: list[Output], before: dict[str, Any]) -> None:
        self.prepared, self.outputs = prepared, outputs
        self.blocks, self.lines = before.get("blocks", 0), before.get("lines", 0)
        self.statistics = Statistics(before.get("statistics"))
        self.candidates: list[Candidate] = before.get("candidates", [])
        self.problems: list[Problem] = []

    def record(self) -> dict[str, Any]:
        return {
            "input": self.prepared.input.path, "fingerprint": self.prepared.fingerprint,
            "statistics": self.statistics.as_json(), "candidates": self.candidates,
        }  # fmt: skip


class _Run:
    """One call of `filter_files`."""

    def __init__(
        self, folder: RunFolder, preparer: Preparer, work: BlockFilter, skip: bool,
        progress: Progress | None,
    ) -> None:  # fmt: skip
        self._folder, self._preparer, self._work = folder, preparer, work
        self._skip, self._progress = skip, progress
        self._begun: dict[str, dict[str, Any]] = {}
        self._open: _Open | None = None
        self._already = self._rows = 0
        self.problems: list[Problem] = []
        self.failed: list[str] = []

    def go(self, found: Sequence[Input], threads: int) -> None:
        waiting = [each for each in found if not self._folder.done(each)]
        self._already = len(found) - len(waiting)
        while waiting:
            try:
                self._pass(waiting, threads)
                return
            except UnreadableFileError as error:
                if not self._skip:
                    raise error.with_remedy(others=len(found) > 1) from None
                self.failed.append(message_of(error))
                lost = error.input.name
            waiting = [each for each in waiting if each.name != lost and not self._folder.done(each)]

    def _pass(self, waiting: Sequence[Input], threads: int) -> None:
        """All files, or up to one that cannot be read."""
        if self._work.sample is not None:
            self._work.sample.begin()
        for record in self._folder.records():
            self._accept(record["candidates"])
        work = tasks(waiting, self._preparer, self._done_blocks)
        try:
            with closing(map_ahead(self._work, work, threads)) as results:
                for result in results:
                    self._take(result)
        finally:
            if self._open is not None:
                for output in self._open.outputs:
                    output.abandon()
                self._open = None

    def _done_blocks(self, prepared: Prepared) -> int:
        """How many blocks of a file an earlier run has written. (On the thread that reads.)"""
        name = prepared.input.name
        before = self._folder.partial(name) or {}
        sizes = before.get("sizes", [])
        places = [partial_path(path) for path in self._folder.outputs(name)]
        if before.get("fingerprint") != prepared.fingerprint or not all(
            path.is_file() and path.stat().st_size >= size for path, size in zip(places, sizes, strict=True)
        ):
            before = {}
        self._begun[name] = before
        return int(before.get("blocks", 0))

    def _take(self, result: Result) -> None:
        """The results of blocks, in order."""
        prepared = result.task.prepared
        if self._open is None:
            self._open = self._begin(prepared)
        now = self._open
        if result.task.block is None:
            self._finish(now)
            return
        self._note(now, result)
        for output, rendered in zip(now.outputs, (result.kept, result.rejected), strict=False):
            if rendered is not None:
                output.write(rendered)
        now.statistics.add(result.statistics.content)
        now.candidates += self._accept(result.candidates)
        now.blocks, now.lines = now.blocks + 1, now.lines + result.lines
        self._rows += result.statistics.content["rows"]
        if self._progress is not None:
            self._progress(prepared.input.path, result.task.block.position, self._rows)
        texts = [output for output in now.outputs if isinstance(output, TextOutput)]  # Arrow begins anew
        if now.blocks % _CHECKPOINT == 0 and texts:
            sizes = [output.save() for output in texts]
            record = now.record() | {"blocks": now.blocks, "lines": now.lines, "sizes": sizes}
            self._folder.save_partial(prepared.input.name, record)

    def _begin(self, prepared: Prepared) -> _Open:
        before = self._begun.pop(prepared.input.name)
        self._accept(before.get("candidates", []))
        paths = self._folder.outputs(prepared.input.name)
        opened: list[Output] = []
        for path, size in zip(paths, before.get("sizes", [0] * len(paths)), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            made = prepared.renderer
            if made is not None and made.schema is not None:
                opened.append(ArrowOutput(path, made.schema, prepared.kind))
            else:
                opened.append(TextOutput(path, b"" if made is None else made.header, prepared.compress, size))
        return _Open(prepared, opened, before)

    def _finish(self, now: _Open) -> None:
        """The output in the folder comes last: it says that all is done.

        Only now is it sure that the file is not damaged, and its problems more than debris.
        """
        name = now.prepared.input.name
        self.problems = [*self.problems, *now.problems][:DESCRIBED]
        self._folder.finish(name, now.record())
        for output in reversed(now.outputs):
            output.finish()
        self._folder.drop_partial(name)
        self._open = None

    def _accept(self, candidates: list[Candidate]) -> list[Candidate]:
        return [] if self._work.sample is None else self._work.sample.accept(candidates)

    def _note(self, now: _Open, result: Result) -> None:
        block = result.task.block
        assert block is not None
        for note in result.notes:
            problem = Problem(block.path, now.lines + note.line + 1, note.what, block.unit)
            if not self._skip:
                remedy = f" leaves such {block.unit}s out and counts them)"
                raise InputError(problem.message, "\n(", SKIPPING, remedy)
            now.problems = [*now.problems, problem][:DESCRIBED]

    def summarise(self, chosen: dict[str, Any] | None) -> FilterResult:
        """Merge the statistics of all outputs, and select the sample from their candidates."""
        total, files, candidates = Statistics(), 0, []
        for record in self._folder.records():
            total.add(record["statistics"])
            candidates += record["candidates"]
            files += 1
        merged = total.as_json()
        write_json(self._folder.path / OWN / "summary.json", {"files": files, **merged, "threshold": chosen})
        result = FilterResult(merged, chosen, files, self._already, self.problems, self.failed)
        result.positives = self._work.scorers.positives
        if self._work.sample is not None:
            result.audit = audit.write_sample(self._folder.path, self._work.sample, candidates, merged)
        return result
