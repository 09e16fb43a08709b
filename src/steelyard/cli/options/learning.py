"""Options about how models learn: the settings of a learner, and `LearnOptions` made of them."""

from dataclasses import dataclass
from typing import Any

import click

from steelyard import losses
from steelyard._parameters import message_of
from steelyard.cli.grouped_help import several
from steelyard.cli.option_types import Choice, RateOrAuto
from steelyard.cli.options.own_losses import given_loss_parameters, loss_named, loss_parameters
from steelyard.io.errors import InputError
from steelyard.schedules import AUTO
from steelyard.settings import (
    DEFAULT_AVERAGE,
    DEFAULT_RATE,
    DTYPES,
    MOST_AVERAGE,
    SCALINGS,
    STEPS_OF_AVERAGES,
    Settings,
)
from steelyard.updates import names as update_names

HEADING = "Learning"
SETTINGS = ("update", "scaling", "initial_t", "power_t", "l1", "l2", "average", "bias", "dtype")
_DEFAULT = Settings()


def _setting(name: str, kind: Any, text: str, metavar: str | None = None) -> Any:
    """An option for a setting of the learner, with the learner's default."""
    default = getattr(_DEFAULT, name)
    return click.option(
        f"--{name.replace('_', '-')}", type=kind, default=default, show_default=default is not None,
        metavar=metavar, help=text,
    )  # fmt: skip


def _rates() -> str:
    """The default rates: every loss has its own for scale-free rates."""
    usual = {name: Settings(losses.by_name(name)) for name in losses.names()}
    own = ", ".join(f"{name} {each.rate:g}" for name, each in usual.items())
    longer = ", ".join(name for name, each in usual.items() if not each.has_class_factor)
    return (
        f"with standardized scaling the loss's own: {own}; with normalized the same, but for {longer} "
        f"{1 / STEPS_OF_AVERAGES:.2g} times that; with others {DEFAULT_RATE:g}"
    )


AVERAGE = click.option(
    "--average", type=click.IntRange(0, MOST_AVERAGE), metavar="POWER",
    help="Predict with an average of the coefficients over time, in which time t has weight t to this power; "
    f"0: with the latest.  [default: {DEFAULT_AVERAGE} with standardized scaling, else 0]",
)  # fmt: skip
BIAS = click.option(
    "--bias/--no-bias", default=True, show_default=True, help="Whether to learn an intercept."
)
DTYPE = _setting("dtype", Choice(DTYPES), "The type of the coefficients.")
LEARNING = several(
    click.option(
        "--loss", metavar="NAME",
        help="A loss by name, or your own as module:Class.  "
        "[default: modified_huber for classes, squared for numbers]",
    ),
    loss_parameters(),
    _setting(
        "update", Choice(update_names()),
        "How a row changes the model; all but explicit are safe with large weights.",
    ),
    _setting(
        "scaling", Choice(SCALINGS),
        "How the learning rate depends on the feature: standardized, normalized and adaptive adapt it to "
        "each feature (standardized also finds units for counts and columns of numbers), row_norm to the "
        "length of the row, plain not at all.",
    ),
    _setting(
        "learning_rate", RateOrAuto(),
        "The initial learning rate; auto learns with five of them and combines the models.  "
        f"[default: {_rates()}]",
    ),
    _setting("initial_t", float, "The total weight after which the rate begins to fall.", "WEIGHT"),
    _setting("power_t", float, "How fast the rate falls; 0: it stays constant.", "POWER"),
    _setting("l1", float, "L1 regularisation.", "STRENGTH"),
    _setting("l2", float, "L2 regularisation.", "STRENGTH"),
    AVERAGE,
    BIAS,
    DTYPE,
    heading=HEADING,
)  # fmt: skip
"""The settings of one learner; `sweep` takes lists of them."""


@dataclass(frozen=True)
class LearnOptions:
    """How models learn. `settings_for` completes it by the loss that fits the labels."""

    loss: str | None
    loss_parameters: dict[str, float]
    learning_rate: float | str | None
    settings: dict[str, Any]

    @classmethod
    def from_given(cls, given: dict[str, Any]) -> "LearnOptions":
        return cls(
            given["loss"],
            given_loss_parameters(given),
            given["learning_rate"],
            {name: given[name] for name in SETTINGS if given[name] is not None},
        )

    def settings_for(self, inferred: str) -> list[Settings]:
        from steelyard.engine.auto_rate import candidates

        loss = loss_named(self.loss or inferred, self.loss_parameters)
        auto = self.learning_rate == AUTO
        try:
            settings = Settings(
                loss=loss,
                learning_rate=None if auto else self.learning_rate,  # type: ignore[arg-type]
                **self.settings,
            )
        except TypeError as error:  # of a loss that cannot be compiled
            raise InputError(message_of(error)) from None
        return candidates(settings) if auto else [settings]
