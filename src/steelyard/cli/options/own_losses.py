"""Options for losses: their parameters, and losses of a user's own, named as `module:Class`."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from steelyard import losses
from steelyard.cli.grouped_help import several
from steelyard.losses import Loss

OWN_LOSS = click.option(
    "--loss", metavar="MODULE:CLASS", help="The loss, for a model that was trained with your own."
)


def loss_parameters() -> Callable[[Any], Any]:
    """An option for every parameter that some loss has, such as --tau."""
    takers: dict[str, dict[str, float]] = {}
    for name in losses.names():
        for parameter, default in losses.parameters(name).items():
            takers.setdefault(parameter, {})[name] = default
    return several(*(_parameter_option(name, defaults) for name, defaults in takers.items()))


def _parameter_option(name: str, defaults: dict[str, float]) -> Callable[..., Any]:
    takers = ", ".join(f"{loss} loss (default {default:g})" for loss, default in defaults.items())
    return click.option(f"--{name.replace('_', '-')}", name, type=float, help=f"Parameter of {takers}.")


def loss_parameter_names() -> list[str]:
    return sorted({parameter for name in losses.names() for parameter in losses.parameters(name)})


def given_loss_parameters(given: dict[str, Any]) -> dict[str, float]:
    return {name: given[name] for name in loss_parameter_names() if given[name] is not None}


def loss_named(name: str, parameters: dict[str, float]) -> Loss:
    """A loss by its name, or a user's own as `module:Class`."""
    own = own_loss(name)
    if own is None:
        return losses.by_name(name, **parameters)
    try:
        return own(**parameters)
    except TypeError as error:
        raise click.BadParameter(f"{name}: {error}", param_hint="--loss") from None


def own_loss(name: str | None) -> type[Loss] | None:
    """The class meant by `module:Class`; None where no class of a user's own is meant."""
    if name is None or ":" not in name:
        return None
    module, _, cls = name.partition(":")
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        found = getattr(importlib.import_module(module), cls)
    except Exception as error:  # noqa: BLE001 - a user's file may raise anything
        raise click.BadParameter(f"{name}: {type(error).__name__}: {error}", param_hint="--loss") from None
    finally:
        sys.path.remove(folder)
    if not (isinstance(found, type) and issubclass(found, Loss)):
        raise click.BadParameter(f"{name}: not a subclass of steelyard.losses.Loss", param_hint="--loss")
    return found
