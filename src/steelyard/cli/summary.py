"""The closing summary of a training run, for people and for machines."""

import math
from pathlib import Path
from typing import Any

from steelyard._messages import counted
from steelyard.cli import unused_interactions
from steelyard.cli.preparing import Plan
from steelyard.cli.training import NOTHING_BEFORE, Totals, Training, so_far
from steelyard.io import columns as roles
from steelyard.io.label_inference import MORE_CLASSES
from steelyard.io.stream import Stream
from steelyard.losses import OneOf

_MOST_PROBLEMS = 3
_FEW_CHANGES = 0.25  # of those that shuffled rows would have
_MANY_COPIES = 10.0  # in one row, on average
_MANY_ROWS = 100
_FEW_LABELS = 20


def of(
    plan: Plan, training: Training, stream: Stream, *, seconds: float, startup: float, output: Path | None
) -> dict[str, Any]:
    """All that is worth knowing about the run."""
    model, totals = plan.model, training.totals
    run_loss, run_weight = (now - then for now, then in zip(so_far(model), totals.before, strict=True))
    constant, constant_loss = totals.labels.best_constant(model.settings.loss)
    collisions = None if plan.names is None else plan.names.collisions()
    return {
        "examples": totals.rows,
        "learned": totals.learned,
        "weight": model.weight,
        "progressive_loss": finite(model.progressive_loss),
        "resumed": totals.before != NOTHING_BEFORE,
        "run_weight": run_weight,
        "run_progressive_loss": finite(run_loss / run_weight) if run_weight > 0.0 else None,
        "best_constant": finite(constant),
        "best_constant_loss": finite(constant_loss),
        "held_out_loss": finite(totals.held_out_loss),
        "passes": training.position[0],
        "effective_sample_size": totals.weights.effective_sample_size,
        "weight_warning": totals.weights.warning,
        "nonzero_weights": int((model.weights != 0.0).sum()),
        "names": None if collisions is None else collisions.names,
        "names_sharing_an_index": None if collisions is None else collisions.share,
        "skipped": stream.skipped,
        "problems": [str(problem) for problem in stream.problems],
        "remarks": [
            *sorted(stream.remarks),
            *unused_interactions.in_vain(stream, plan.names),
            *_advice(plan, training),
        ],
        "seconds": seconds,
        "startup_seconds": startup,
        "rows_per_second": training.rows_read / seconds,
        "megabytes_per_second": training.bytes_read / seconds / 1e6,
        "model": None if output is None else str(output),
    }


def text(result: dict[str, Any]) -> str:
    """The same in lines."""
    lines = [""]
    lines += [f"{name:<22} {value}" for name, value in _facts(result)]
    if result["skipped"]:
        lines.append("")
        such = ", such as" if result["skipped"] > _MOST_PROBLEMS else ":"
        lines.append(f"skipped {counted(result['skipped'], 'line')} that could not be read{such}")
        lines += [f"  {problem}" for problem in result["problems"][:_MOST_PROBLEMS]]
    lines += [f"note: {remark}" for remark in result["remarks"]]
    if result["weight_warning"]:
        lines.append(f"note: {result['weight_warning']}")
    return "\n".join(lines)


def _advice(plan: Plan, training: Training) -> list[str]:
    """What may be amiss with the rows: sorted by label, or so heavy that each is learned by heart."""
    totals = training.totals
    advice = []
    if totals.labels.only is not None and totals.learned > 1:
        advice.append(f"all labels are {totals.labels.only:g}: there is nothing to tell apart")
    if plan.loss_guessed and _may_be_classes(plan, totals):
        labels = ", ".join(f"{label:g}" for label in totals.labels.among(_FEW_LABELS))
        advice.append(
            f"the labels are {labels}, and were taken for numbers, not for classes; if they are classes: "
            f"{MORE_CLASSES}"
        )
    columns = plan.reading.columns
    if columns is not None and not any(columns.of(role) for role in roles.FEATURES):
        advice.append("no column is a feature, so that nothing but a constant is learned")
    if isinstance(plan.model.settings.loss.labels, OneOf) and totals.learned > _MANY_ROWS:
        expected = totals.labels.expected_changes(totals.learned)
        if totals.label_changes < _FEW_CHANGES * expected:
            advice.append(
                f"the label changes {counted(totals.label_changes, 'time')} from row to row, where shuffled "
                f"rows would have about {expected:,.0f}: whoever repeats the last label does "
                "well, so the average loss "
                "says little, and the last class is learned best; shuffle the rows (shuf) unless this is "
                "their order in time"
            )
    mean = totals.weights.total / totals.weights.nonzero if totals.weights.nonzero else 0.0
    if mean > _MANY_COPIES:
        advice.append(
            f"a row weighs {mean:,.6g} on average, and is learned as so many copies at once; "
            f"--weight-factor {plan.reading.weight_factor / mean:.1g} would make that about 1"
        )
    return advice


def _may_be_classes(plan: Plan, totals: Totals) -> bool:
    """Whether numbers were learned that look like names: few whole ones, each of them often."""
    labels = totals.labels.among(_FEW_LABELS)
    return (
        not isinstance(plan.model.settings.loss.labels, OneOf)
        and len(labels) > 2
        and all(label.is_integer() for label in labels)
        and totals.learned >= 3 * len(labels)
    )


def _facts(result: dict[str, Any]) -> list[tuple[str, str]]:
    weight, loss = f"{result['weight']:,.6g}", _shown(result["progressive_loss"])
    run = ""
    if result["resumed"]:
        run = " in this run"
        weight = f"{result['run_weight']:,.6g}{run}, {weight} in all"
        loss = f"{_shown(result['run_progressive_loss'])}{run}, {loss} in all"
    facts = [
        ("examples", f"{result['examples']:,}{run}"),
        ("weight", weight),
        ("average loss", loss),
        ("best constant", _shown(result["best_constant"]) + run),
        ("best constant's loss", _shown(result["best_constant_loss"]) + run),
    ]
    if result["learned"] < result["examples"]:
        facts.insert(1, ("learned", f"{result['learned']:,}"))
    if result["held_out_loss"] is not None:
        facts.insert(3, ("held-out loss", _shown(result["held_out_loss"])))
    if result["effective_sample_size"] < 0.999 * result["learned"]:
        facts.append(
            ("effective sample size", f"{result['effective_sample_size']:,.1f}, as the weights vary")
        )
    if result["names"]:
        share = result["names_sharing_an_index"]
        advice = "; more --bits would part them" if share > 0.01 else ""
        facts.append(
            ("features", f"{result['names']:,}, {share:.2%} of them share an index with another{advice}")
        )
    speed = f"{result['rows_per_second']:,.0f} rows/s, {result['megabytes_per_second']:,.0f} MB/s"
    facts.append(
        ("time", f"{result['seconds']:.2f} s ({speed}), and {result['startup_seconds']:.2f} s to start")
    )
    facts.append(("model", result["model"] or "not kept; -o MODEL keeps it"))
    return facts


def finite(value: float | None) -> float | None:
    """JSON has no NaN."""
    return value if value is not None and math.isfinite(value) else None


def _shown(value: float | None) -> str:
    if value is None:
        return "unknown"
    shown = f"{value:.6f}"
    return shown if float(shown) else shown.lstrip("-")
