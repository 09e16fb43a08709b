"""`steelyard train --cluster`: learn files in parts, side by side, and merge the models round by round."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard import _atomic_files
from steelyard._messages import counted
from steelyard.cli.common import Say, fact_lines, restored_interrupts, steps_fact
from steelyard.cli.grouped_help import several
from steelyard.cli.option_types import Choice
from steelyard.io.errors import InputError

if TYPE_CHECKING:
    from steelyard.distributed.training import DistributedTraining, Progress
    from steelyard.engine.file_training import FileTraining
    from steelyard.engine.run_options import RunOptions
    from steelyard.model_file import ModelFile

OPTIONS = several(
    click.option(
        "--cluster", metavar="WHERE",
        help="Learn parts of the files side by side, and merge the models after each round: local (processes "
        "on this machine, local:4 for four), ray, ray://HOST:PORT, dask or dask://HOST:PORT.",
    ),
    click.option(
        "--parts", type=click.IntRange(1), metavar="N",
        help="How many parts to learn side by side.  "
        "[default: 8, or fewer if there are fewer than 64 files]",
    ),
    click.option(
        "--rounds", type=click.IntRange(1), metavar="N",
        help="How many times to merge in a pass.  "
        "[default: 8, for more than 8 parts 16, or as files allow]",
    ),
    click.option(
        "--merge-by", type=Choice(["gradients", "mean"]), default=None,
        help="As --by of steelyard merge.  [default: gradients]",
    ),
    heading="Cluster",
)  # fmt: skip


def check(given: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    alone = [name for name in ("parts", "rounds", "merge_by") if given[name] is not None]
    if alone and given["cluster"] is None:
        listed = ", ".join("--" + name.replace("_", "-") for name in alone)
        raise InputError(f"{listed}: only for training on a cluster, such as --cluster local")
    if given["cluster"] is not None and given["checkpoint_every"] is not None:
        raise InputError("--cluster saves MODEL.checkpoint after every round: leave out --checkpoint-every")


def begin(
    paths: list[str],
    given: dict[str, Any],
    run: "RunOptions",
    started: "FileTraining | ModelFile",
    checkpoint: Path | None,
) -> "DistributedTraining":
    """A distributed training that goes on from one that has begun, a model or a checkpoint."""
    from steelyard.distributed.training import DistributedTraining, plan_of
    from steelyard.engine.file_training import FileTraining

    options: dict[str, Any] = {"by": given["merge_by"] or "gradients", "checkpoint": checkpoint}
    asked = given["parts"], given["rounds"], run.passes
    if isinstance(started, FileTraining):
        return DistributedTraining.begin(started, plan_of(None, paths, *asked), **options)
    return DistributedTraining(started, plan_of(started, paths, *asked), run, **options)


def run(
    training: "DistributedTraining", given: dict[str, Any], output: Path | None, say: Say | None
) -> dict[str, Any]:
    """Learn, and save the model; `say` is told of each round. Returns the summary."""
    from steelyard import model_file
    from steelyard.distributed.engines import connect

    began = time.perf_counter()
    plan, where = training.plan, given["cluster"]
    if say is not None:
        say(f"{counted(plan.parts, 'part')}, {counted(plan.rounds, 'round')} a pass, on {where}")
        if given["rounds"] is None and (remark := plan.remark(parts_chosen=given["parts"] is None)):
            say(f"note: {remark}")

    def show(progress: "Progress") -> None:
        said = f"round {progress.rounds + 1} of {plan.total}: {progress.parts} of {plan.parts} parts"
        if progress.parts == 0:
            loss = progress.content.engine.progressive_loss
            said = f"round {progress.rounds} of {plan.total}: average loss {loss:.6f}"
            if say is not None:
                say(said)
        elif say is not None:
            click.echo(said, err=True)

    checkpoint = None if output is None else output.with_name(output.name + ".checkpoint")
    with _told_when_interrupted(training, checkpoint, given["resume"]), closing(connect(where)) as engine:
        content = training.run(engine, show)
    if output is not None and checkpoint is not None:
        model_file.save(output, content)
        _atomic_files.remove(checkpoint)
    model, record = content.engine.answering, content.training or {}
    return {
        "files": len(plan.paths), "parts": plan.parts, "rounds": plan.total, "passes": plan.passes,
        "examples": record.get("rows"), "weight": model.total_weight,
        "progressive_loss": content.engine.progressive_loss, "class_steps": model.rare_class_factor,
        "seconds": time.perf_counter() - began,
        "model": None if output is None else str(output),
    }  # fmt: skip


@contextmanager
def _told_when_interrupted(
    training: "DistributedTraining", checkpoint: Path | None, resumed: Path | None
) -> Iterator[None]:
    """Tells whoever interrupts what is saved of the run: a new checkpoint, or the one it began from."""
    begun = training.done
    try:
        with restored_interrupts():
            yield
    except KeyboardInterrupt:
        kept = checkpoint if training.done > begun else resumed if begun else None
        if kept is not None and kept.exists():
            click.echo(
                f"interrupted: {kept} holds what was learned in whole rounds; to go on, repeat the command "
                f"with --resume {kept}, without the options that a model keeps",
                err=True,
            )
        raise


def text(result: dict[str, Any]) -> str:
    return "\n".join(
        fact_lines({
            "examples": f"{result['examples']:,}",
            "weight": f"{result['weight']:,.6g}",
            "average loss": f"{result['progressive_loss']:.6f}",
            "steps": steps_fact(result["class_steps"]),
            "time": f"{result['seconds']:.2f} s",
            "model": result["model"],
        })
    )  # fmt: skip
