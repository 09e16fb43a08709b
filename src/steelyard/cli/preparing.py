"""From the options of `train` to a plan: what is read, by which model, from where on."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import click
from click.core import ParameterSource

from steelyard import losses
from steelyard._messages import counted
from steelyard.cli import options, stored
from steelyard.cli.training import Totals
from steelyard.features.names import Names
from steelyard.features.tokens import TextOptions
from steelyard.io import compatibility, inference, label_inference, sources
from steelyard.io.column_roles import ColumnOverrides
from steelyard.io.errors import InputError
from steelyard.io.input_spec import ARROW, DEFAULT_BITS, InputSpec
from steelyard.io.labels import ANYTHING, LabelRule, is_number, rule
from steelyard.io.stream import Stream
from steelyard.learner import Learner
from steelyard.losses import Loss, OneOf
from steelyard.model import Model, Settings

_SETTINGS = (
    "update", "scaling", "learning_rate", "initial_t", "power_t", "l1", "l2", "l2_flow", "bias", "dtype",
)  # fmt: skip
_OF_TABLES = (
    "label", "weight", "propensity", "base", "tag", "text", "category", "number", "ignore",
    "separator", "header", "words", "characters", "repeated",
)  # fmt: skip
_KEPT_BY_A_MODEL = (
    *_SETTINGS, *_OF_TABLES, "loss", "bits", "interactions", "labels", "format_", "weight_factor",
    "names",
)  # fmt: skip
_OF_A_RUN = ("passes", "holdout")


@dataclass
class Plan:
    """A model, the way its files are read, and where in them it is."""

    paths: list[str]
    reading: InputSpec
    """How the model's files are read; kept with it."""
    model: Model
    names: Names | None
    threads: int
    skip: bool
    announcements: list[str] = field(default_factory=list)
    position: tuple[int, int] = (0, 0)
    totals: Totals | None = None
    loss_guessed: bool = False
    """Whether nobody has said which loss it is to be."""
    files: InputSpec | None = None
    """How these files are read, where that is not how the model's first ones were."""
    run: dict[str, Any] = field(default_factory=dict)
    """The options that decide, with the files, what is learned: a checkpoint remembers them."""

    def stream(self) -> Stream:
        """The files, from the beginning."""
        reading = self.files or self.reading
        return Stream(
            self.paths,
            reading.reader(self.names),
            names=self.names,
            loss=self.model.settings.loss,
            label_rule=reading.label_rule,
            propensities=reading.propensities,
            weight_factor=reading.weight_factor,
            threads=self.threads,
            skip=self.skip,
        )

    def warm_up(self) -> None:
        """Load the kernels, with no rows at all: starting up is not learning."""
        reader = (self.files or self.reading).reader(self.names)
        parsed = reader.parse(reader.nothing())
        Learner(model=self.model).learn(parsed.examples)


def prepare(ctx: click.Context, files: Sequence[str], given: dict[str, Any]) -> Plan:
    paths = sources.expand(files)
    _check_passes(paths, given["passes"])
    plan = _resumed(ctx, paths, given) if given["resume"] else _begun(ctx, paths, given)
    plan.run = plan.run or {name: given[name] for name in _OF_A_RUN}
    _check_passes(paths, plan.run["passes"])
    plan.threads = threads(given["threads"])
    plan.skip = given["on_error"] == "skip"
    return plan


def _check_passes(paths: list[str], passes: int) -> None:
    for path in paths:
        if passes > 1 and sources.once_only(path):
            name = "standard input" if path == sources.STANDARD_INPUT else path
            raise InputError(f"{name} can be read once only: save it to a file for several passes")


def threads(given: int | None) -> int:
    return given or min(os.cpu_count() or 1, 4)


def _begun(ctx: click.Context, paths: list[str], given: dict[str, Any]) -> Plan:
    """A new model. What the options do not say is guessed from the first rows, and said."""
    reading, labels = looked_at(ctx, paths, given)
    loss = _loss(given, labels)
    if given["labels"]:
        reading = replace(reading, label_rule=rule_of(given["labels"], loss))
    else:
        reading = replace(reading, label_rule=label_inference.rule_for(labels, loss, paths[0]))
    try:
        settings = Settings(loss=loss, **{name: given[name] for name in _SETTINGS if given[name] is not None})
    except TypeError as error:  # of a loss that cannot be compiled
        raise InputError(str(error)) from None
    names = Names(reading.features) if given["names"] else None
    plan = Plan(paths, reading, Model(settings, reading.features), names, threads=1, skip=False)
    plan.loss_guessed = given["loss"] is None
    plan.announcements = _announcements(plan, given)
    return plan


def looked_at(ctx: click.Context, paths: list[str], given: dict[str, Any]) -> tuple[InputSpec, list[str]]:
    """How the files are to be read, and the labels of their first rows."""
    reading = InputSpec(
        format=given["format_"] or inference.format_of(paths),
        bits=given["bits"] or DEFAULT_BITS,
        interactions=given["interactions"],
        dtype=given["dtype"],
        text=TextOptions(given["words"], given["characters"], given["repeated"]),
        propensities=given["propensity"] is not None,
        weight_factor=given["weight_factor"],
    )
    layout = _layout(given)
    if reading.format in ("vw", "svmlight"):
        _check_no_table(ctx, reading.format, given)
    reading, labels = inference.look(paths[0], reading, layout)
    if reading.format in ARROW and reading.columns is None:
        _check_no_table(ctx, "ready-made rows, whose features steelyard convert has made", given)
    if given["bits"] not in (None, reading.bits):
        raise InputError(f"{paths[0]}: was converted for --bits {reading.bits}; leave --bits out")
    return reading, labels


def _announcements(plan: Plan, given: dict[str, Any]) -> list[str]:
    """What was decided, and which of it was a guess."""
    settings, found = plan.model.settings, plan.reading.label_rule
    lines = [f"format: {plan.reading.format}" + ("" if given["format_"] else " (as the files look)")]
    if plan.reading.columns is not None:
        lines.append("columns (--label, --weight, --text, --category, --number, --ignore overrule):")
        lines += [f"  {line}" for line in plan.reading.columns.describe().splitlines()]
    if found is not None:
        said = "" if given["labels"] else " (guessed from the first rows; --labels overrules)"
        lines.append(f"labels: {found.negative} is {found.low:g}, {found.positive} is {found.high:g}{said}")
    guessed = "" if given["loss"] else " (guessed from the labels; --loss overrules)"
    lines.append(f"loss: {losses.name_of(settings.loss) or given['loss']}{guessed}")
    lines.append(f"update: {settings.update}, scaling: {settings.scaling}, learning rate: {settings.rate:g}")
    return lines


def _resumed(ctx: click.Context, paths: list[str], given: dict[str, Any]) -> Plan:
    """A model that goes on learning, with the settings it has."""
    for name in (*_KEPT_BY_A_MODEL, *loss_parameters()):
        if _said(ctx, name) and not (name == "loss" and ":" in given["loss"]):
            raise InputError(
                f"--resume goes on with the settings of {given['resume']}: leave out {_option(name)}"
            )
    kept = stored.load(given["resume"], options.own_loss(given["loss"]))
    plan = Plan(paths, kept.reading, kept.model, kept.names, threads=1, skip=False)
    plan.files = compatibility.reading_for(kept.reading, paths, str(given["resume"]))
    if kept.unfinished is None:
        plan.announcements = [
            f"going on from {given['resume']}, after {kept.model.clock:g} of weight, "
            "with which average loss and weight begin"
        ]
        return plan
    if kept.unfinished.paths != paths:
        raise InputError(
            f"{given['resume']} is the checkpoint of a run over {' '.join(kept.unfinished.paths)}: "
            "name the same files"
        )
    for name in _OF_A_RUN:
        if _said(ctx, name) and given[name] != kept.unfinished.options[name]:
            raise InputError(
                f"{given['resume']} is the checkpoint of a run with {_option(name)} "
                f"{kept.unfinished.options[name]}: leave out {_option(name)} {given[name]}"
            )
    plan.run = kept.unfinished.options
    plan.position, plan.totals = kept.unfinished.position, kept.unfinished.totals
    plan.announcements = [
        f"going on where {given['resume']} was cut short: "
        f"after {counted(plan.position[1], 'row')} of pass {plan.position[0] + 1}"
    ]
    return plan


def _layout(given: dict[str, Any]) -> inference.Layout:
    if given["weight"] is not None and given["propensity"] is not None:
        raise InputError("--weight and --propensity cannot both be given: one column makes the weight")
    told = ColumnOverrides(
        label=given["label"],
        weight=given["weight"] or given["propensity"],
        base=given["base"],
        tag=given["tag"],
        text=given["text"],
        category=given["category"],
        number=given["number"],
        ignore=given["ignore"],
    )
    return inference.Layout(told, given["separator"], given["header"])


def rule_of_names(given: dict[str, Any], labels: list[str], path: str) -> LabelRule | None:
    """Without a loss to say what it takes: names become −1 and 1, numbers stay what they are."""
    two = losses.by_name(label_inference.TWO_CLASSES)
    if given["labels"]:
        return rule_of(given["labels"], two)
    return None if all(is_number(label) for label in labels) else label_inference.rule_for(labels, two, path)


def _loss(given: dict[str, Any], labels: list[str]) -> Loss:
    return options.loss_named(given["loss"] or label_inference.loss_for(labels), parameters(given))


def _said(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE


def _option(name: str) -> str:
    return "--" + name.strip("_").replace("_", "-")


def _check_no_table(ctx: click.Context, format_: str, given: dict[str, Any]) -> None:
    """What would otherwise be asked for in vain."""
    for name in _OF_TABLES:
        if _said(ctx, name):
            raise InputError(f"{_option(name)} is for tables, and the files are {format_}")
    if given["interactions"] and format_ != "vw":
        raise InputError(f"--interactions needs namespaces or columns, and the files are {format_}")
    if given["labels"] and not all(
        name == ANYTHING or is_number(name) for name in given["labels"].split(",")
    ):
        raise InputError(f"--labels {given['labels']}: the labels of {format_} are numbers")


def loss_parameters() -> list[str]:
    return sorted({parameter for name in losses.names() for parameter in losses.parameters(name)})


def parameters(given: dict[str, Any]) -> dict[str, float]:
    return {name: given[name] for name in loss_parameters() if given[name] is not None}


def rule_of(text: str, loss: Loss) -> LabelRule:
    """From `--labels`, in the labels that the loss takes."""
    pair = sorted(loss.labels.values) if isinstance(loss.labels, OneOf) else [0.0, 1.0]
    return rule(text, pair[0], pair[-1])
