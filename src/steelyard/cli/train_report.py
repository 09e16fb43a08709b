"""The summary of a training run, for people and for machines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steelyard import losses, weight_summary
from steelyard.cli import scoring
from steelyard.cli.commands import evaluate
from steelyard.cli.common import fact_lines, skips_and_notes, steps_fact, unused_interactions
from steelyard.cli.wording import problem_texts
from steelyard.engine.file_training import FileTraining
from steelyard.engine.holdout import Share
from steelyard.io import columns as roles
from steelyard.io import sources
from steelyard.scoring import evaluation, loaded_model
from steelyard.scoring.metrics import finite

_FEW_LABELS = 20
_MOST_CLASSES = 12  # that are listed


def announce(training: FileTraining, given: set[str]) -> list[str]:
    """What was decided before training, and which of it was detected."""
    settings, spec, rule = training.engine.settings, training.spec, training.spec.label_rule
    lines = [f"format: {spec.format}" + ("" if "format_" in given else " (detected)")]
    if spec.columns is not None:
        lines.append("columns (change with --label, --weight, --text, --category, --number, --ignore):")
        lines += [f"  {line}" for line in spec.columns.describe().splitlines()]
    if spec.counted:
        assert spec.columns is not None
        (count,), (positives,) = spec.columns.with_role(roles.WEIGHT), spec.columns.with_role(roles.LABEL)
        lines.append(f"counts: a row is {count} examples, {positives} of them positive; in random order")
    detected = "" if "labels" in given or spec.counted else " (detected; change with --labels)"
    if rule is not None and len(rule.names) == 2:
        lines.append(f"labels: {rule.negative} is {rule.low:g}, {rule.positive} is {rule.high:g}{detected}")
    elif rule is not None:
        assert training.class_names is not None
        names = list(map(str, training.class_names.tolist()))
        lines.append(f"classes: {len(names)}: {_listed(names)}{detected}")
    elif training.loss_inferred and _are_few_whole_numbers(list(map(float, training.first_labels))):
        some = ", ".join(sorted(training.first_labels, key=float))
        lines.append(f"labels: {some} are numbers to predict (detected; if they are classes: --classes)")
    if rule is not None and rule.spellings:
        joined = ", ".join(f"{other} as {name}" for other, name in rule.spellings)
        lines.append(f"note: some labels differ in letter case or blanks only, and are read as one: {joined}")
    name = losses.name_of(training.loss) or type(training.loss).__name__
    lines.append(f"loss: {name}" + ("" if "loss" in given else " (by the labels; change with --loss)"))
    rates = [each.rate for each in settings]
    which = "a mixture" if settings[0].scaling == "standardized" else "the best"
    rate = f"auto, {which} of {len(settings)} schedules that start at {min(rates):g} to {max(rates):g}"
    if len(settings) == 1:
        rate = f"{settings[0].rate:g}"
    lines.append(f"update: {settings[0].update}, scaling: {settings[0].scaling}, learning rate: {rate}")
    return lines


def summarise(
    training: FileTraining, *, seconds: float, startup: float, output: Path | None
) -> dict[str, Any]:
    engine, totals, files = training.engine, training.totals, training.files
    best = engine.best
    loss, weight = (float(column[best]) for column in engine.progress_sums())
    loss_before, weight_before = (
        float(column[best if len(column) > best else 0]) for column in training.before
    )
    run_weight = weight - weight_before
    held = training.loop.held_out
    stream = files.first_stream
    assert stream is not None
    collisions = None if training.names is None else training.names.collisions()
    rows_read, bytes_read = files.read
    settings = engine.settings[best]
    return {
        "examples": stream.rows if training.spec.counted else totals.rows,
        "learned": totals.learned,
        "unlabelled": totals.unlabelled,
        "weight": weight,
        "progressive_loss": finite(loss / weight) if weight > 0.0 else None,
        "progressive_error": finite(float(engine.progressive_error[best])) if training.classes else None,
        "resumed": weight_before > 0.0,
        "run_weight": run_weight,
        "run_progressive_loss": finite((loss - loss_before) / run_weight) if run_weight > 0.0 else None,
        **_baseline(training),
        "held_out_loss": finite(float(held.loss[best]) / held.weight) if held.weight > 0.0 else None,
        "held_out_error": finite(float(held.error[best]) / held.weight)
        if held.weight > 0.0 and training.classes
        else None,
        "classes": None if training.class_names is None else training.class_names.tolist(),
        "learning_rate": settings.rate,
        "power_t": settings.power_t,
        "class_steps": engine.rare_class_factor,
        "auto": len(engine.settings) > 1,
        "calibrated": training.calibration is not None,
        "passes": training.loop.position[0],
        "best_pass": 1 + int(np.argmin(training.held_out_losses)) if training.held_out_losses else None,
        "effective_sample_size": totals.weights.total
        if training.spec.counted
        else totals.weights.effective_sample_size,
        "weight_warning": totals.weights.warning,
        "nonzero_weights": sum(int(np.count_nonzero(each.coefficients())) for each in engine.each_model()),
        "names": None if collisions is None else collisions.names,
        "names_sharing_an_index": None if collisions is None else collisions.share,
        "skipped": stream.skipped,
        "problems": problem_texts(stream.problems),
        "remarks": [
            *sorted(stream.remarks),
            *unused_interactions(stream, training.names),
            *_advice(training),
        ],
        "seconds": seconds,
        "startup_seconds": startup,
        "rows_per_second": rows_read / seconds,
        "megabytes_per_second": bytes_read / seconds / 1e6,
        "model": None if output is None else str(output),
    }


def evaluate_held_out(
    training: FileTraining, output: Path | None, given: dict[str, Any]
) -> dict[str, Any] | None:
    """What `evaluate --held-out` says of the share held out, if the files can be read again."""
    paths, run = training.files.paths, training.run_options
    again = isinstance(run.holdout, Share) and not any(map(sources.once_only, paths))
    if not again or training.loop.held_out.weight == 0.0:
        return None
    loaded = loaded_model.loaded(output or Path("the model"), training.content(), training.engine)
    reading = {name: given[name] for name in ("on_error", "threads")}
    scored = scoring.score_files(loaded, paths, reading, labelled=True)
    found = evaluation.measure(loaded, scored, held_out=run.holdout)
    scoring.tell_skipped(scored.stream)
    uses = {"when to stop": run.early_stopping, "the probabilities": run.calibrate}
    decided = " and ".join(what for what, used in uses.items() if used)
    if decided:
        found["notes"].append(f"these rows also decided {decided}, which flatters the model a little")
    return found


def _baseline(training: FileTraining) -> dict[str, Any]:
    """The constant that a model has to beat, or of several classes the most frequent one."""
    labels = training.totals.labels
    if training.classes > 2 and training.totals.learned:
        assert training.class_names is not None
        place, mean = labels.best_class(training.loss, training.classes)
        share = float(
            labels.class_shares(training.classes).max() / labels.class_shares(training.classes).sum()
        )
        return {
            "most_frequent_class": training.class_names.tolist()[place],
            "most_frequent_class_error": 1.0 - share,
            "best_constant": None,
            "best_constant_loss": finite(mean),
        }
    constant, constant_loss = labels.best_constant(training.loss)
    return {"best_constant": finite(constant), "best_constant_loss": finite(constant_loss)}


def text(result: dict[str, Any]) -> str:
    """The summary for people; what may be wrong comes last, where it is seen."""
    warning = [result["weight_warning"]] if result["weight_warning"] else []
    notes = skips_and_notes(result, result["remarks"] + warning)
    lines = ["", *fact_lines(_facts(result))]
    if result["held_out"] is not None:
        lines += ["", "on the rows held out, none of which was learned:", evaluate.text(result["held_out"])]
        lines += [""] if notes else []
    return "\n".join([*lines, *notes])


def _advice(training: FileTraining) -> list[str]:
    """What may be wrong with the rows: sorted by label, or so heavy that each is learned by heart."""
    totals, columns = training.totals, training.spec.columns
    advice = []
    if totals.labels.only is not None and totals.learned > 1:
        advice.append(f"all labels are {totals.labels.only:g}: there is nothing to tell apart")
    if training.loss_inferred and _may_be_classes(training):
        labels = ", ".join(f"{label:g}" for label in totals.labels.among(_FEW_LABELS))
        advice.append(
            f"the labels are {labels}, and were learned as numbers; if they are classes, "
            "--classes learns them as such, one against the rest"
        )
    if training.classes > 2:
        assert training.class_names is not None
        shares = totals.labels.class_shares(training.classes).tolist()
        absent = [str(name) for name, share in zip(training.class_names, shares, strict=True) if share == 0.0]
        if absent and totals.learned:
            classes = "class" if len(absent) == 1 else f"{len(absent)} classes"
            advice.append(f"no row that was learned is of the {classes} {_listed(absent)}")
    if isinstance(training.run_options.holdout, Share) and training.loop.held_out.weight == 0.0:
        advice.append("no row with a label and a weight was held out: there are too few rows for this share")
    if training.held_out_calibration is not None and not training.run_options.calibrate:
        advice.append("the calibration of probabilities was kept; --holdout 10 --calibrate fits it again")
    if columns is not None and not any(columns.with_role(role) for role in roles.FEATURES):
        advice.append("no column is a feature, so only a constant is learned")
    if training.classes:
        advice += totals.order_warnings("--shuffle learns them in random order")
    return advice + _about_weights(training)


def _listed(classes: list[str]) -> str:
    return ", ".join(classes[:_MOST_CLASSES]) + (", …" if len(classes) > _MOST_CLASSES else "")


def _about_weights(training: FileTraining) -> list[str]:
    """What was done about weights that are no counts."""
    first, weights = training.files.first_weights, training.totals.weights
    if first is not None and training.files.factor != 1.0:
        remedy = "To learn each as that many copies: --weight-scale as_given."
        return [first.scale_warning(remedy, training.files.factor)]
    faint = weights.nonzero >= weight_summary.FEW_ROWS and weights.mean < weight_summary.SMALL_WEIGHT
    if faint or weights.mean > weight_summary.LARGE_WEIGHT:
        factor = training.spec.weight_factor / weights.mean
        remedy = f"--weight-factor {factor:.1g} would make that about 1."
        return [weights.scale_warning(remedy)]
    return []


def _may_be_classes(training: FileTraining) -> bool:
    """Whether the labels are a few whole numbers that occur often, and so may be names of classes."""
    labels = training.totals.labels.among(_FEW_LABELS)
    enough = training.totals.learned >= 3 * len(labels)
    return not training.classes and enough and _are_few_whole_numbers(labels)


def _are_few_whole_numbers(labels: Sequence[float]) -> bool:
    return 2 < len(labels) <= _FEW_LABELS and all(label.is_integer() for label in labels)


def _facts(result: dict[str, Any]) -> dict[str, str | None]:
    weight, loss = f"{result['weight']:,.6g}", _shown(result["progressive_loss"])
    run = whole = ""
    if result["resumed"]:
        run, whole = " in this run", " in all"
        weight = f"{result['run_weight']:,.6g}{run}, {weight}{whole}"
        loss = f"{_shown(result['run_progressive_loss'])}{run}, {loss}{whole}"
    baseline = {"best constant": _shown(result["best_constant"]) + run}
    if "most_frequent_class" in result:
        error = _shown(result["most_frequent_class_error"])
        baseline = {"most frequent class": f"{result['most_frequent_class']}, error rate {error}{run}"}
    schedule = f"{result['learning_rate']:g}, power_t {result['power_t']:g} (auto)"
    size = result["effective_sample_size"]
    varied = size < 0.999 * result["learned"]
    features, evaluated = None, result["held_out"] is not None
    if result["names"]:
        share = result["names_sharing_an_index"]
        advice = "; more --bits would separate them" if share > 0.01 else ""
        features = f"{result['names']:,}, {share:.2%} of them share an index with another{advice}"
    speed = f"{result['rows_per_second']:,.0f} rows/s, {result['megabytes_per_second']:,.0f} MB/s"
    return {
        "examples": f"{result['examples']:,}{run}",
        "learned": f"{result['learned']:,}" if result["learned"] < result["examples"] else None,
        "without a label": f"{result['unlabelled']:,}, not learned" if result["unlabelled"] else None,
        "weight": weight,
        "average loss": loss,
        "error rate": _if_known(result["progressive_error"], whole),
        "passes": f"{result['passes']}, of which number {result['best_pass']} was best and is kept"
        if result["best_pass"]
        else None,
        "held-out loss": None if evaluated else _if_known(result["held_out_loss"]),
        "held-out error rate": None if evaluated else _if_known(result["held_out_error"]),
        **baseline,
        "best constant's loss": _shown(result["best_constant_loss"]) + run,
        "learning rate": schedule if result["auto"] else None,
        "steps": steps_fact(result["class_steps"]),
        "effective sample size": f"{size:,.1f}, as the weights vary" if varied else None,
        "features": features,
        "time": f"{result['seconds']:.2f} s ({speed}), and {result['startup_seconds']:.2f} s to start",
        "model": result["model"] or "not saved; -o MODEL saves it",
    }


def _if_known(value: float | None, more: str = "") -> str | None:
    return None if value is None else _shown(value) + more


def _shown(value: float | None) -> str:
    if value is None:
        return "unknown"
    shown = f"{value:.6f}"
    return shown if float(shown) else shown.lstrip("-")
