"""What options take: words, rates, weights of classes, and lists.

Lists of numbers are `0.5,1`; `2^0..2^10` in powers; `0.01:10:7`, evenly in their logarithm.
"""

import re
from collections.abc import Sequence
from typing import Any

import click

from steelyard._messages import did_you_mean
from steelyard.engine import holdout
from steelyard.engine.class_weights import BALANCED
from steelyard.io.sources import STANDARD_INPUT
from steelyard.schedules import AUTO

_POWER = re.compile(r"([\d.]+)\^(-?\d+)")
_DIGITS = 12  # of numbers spaced evenly: 0.1, not 0.09999999999999998
_MOST = 10_000  # values of one option: more are a slip


class Choice(click.Choice[str]):
    """One of some words; an error says which one was probably meant."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        said = super().get_invalid_choice_message(value, ctx)
        hint = did_you_mean(str(value), map(str, self.choices))
        return said.removesuffix(".") + hint if hint else said


class NamedPath(click.Path):
    """A file or folder. As an option it is never `-`, which would make a file of that name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == STANDARD_INPUT and isinstance(param, click.Option):
            kind = "file" if self.file_okay else "folder"
            instead = "" if param.required else ", or leave the option out"
            self.fail(
                f"- is standard input or output, which it cannot be; name a {kind}{instead}.", param, ctx
            )
        return super().convert(value, param, ctx)


class RateOrAuto(click.ParamType):  # type: ignore[type-arg]
    """A learning rate, or `auto`."""

    name = "rate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        try:
            return AUTO if value == AUTO else float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor auto.", param, ctx)


class NthOrShare(click.ParamType):  # type: ignore[type-arg]
    """Rows to hold out: a whole number means every Nth row, a fraction a random share."""

    name = "rows"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        try:
            number: int | float = int(value) if str(value).isdigit() else float(value)
            holdout.parse(number)
        except ValueError:
            self.fail(
                f"{value!r} is neither 2 or more (every Nth row) nor between 0 and 1 (a share).", param, ctx
            )
        return number


class ClassWeights(click.ParamType):  # type: ignore[type-arg]
    """`balanced`, or weights by class as in `ham=1,spam=5`."""

    name = "weights"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | dict[str, float]:
        if value == BALANCED or isinstance(value, dict):
            return value  # type: ignore[no-any-return]
        weights = {}
        for part in value.split(","):
            name, found, weight = part.rpartition("=")
            try:
                weights[name.strip()] = float(weight)
            except ValueError:
                found = ""
            if not found or not name.strip():
                self.fail(f"{value!r} is neither balanced nor of the form ham=1,spam=5.", param, ctx)
        return weights


class NumberList(click.ParamType):  # type: ignore[type-arg]
    """Several numbers."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[float]:
        if isinstance(value, list):
            return value
        try:
            numbers = [number for item in value.split(",") for number in _item(item.strip())]
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            self.fail(
                f"{value!r}: {error}. Write numbers as in 0.5,1 or 2^0..2^10 (powers) or "
                "0.01:10:7 (so many, evenly spaced in their logarithm).",
                param,
                ctx,
            )
        return list(dict.fromkeys(numbers))


class NameList(click.ParamType):  # type: ignore[type-arg]
    """Several names, of those to choose from, if there are any."""

    name = "names"

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.known = tuple(known)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        if isinstance(value, list):
            return value
        names = [name.strip() for name in value.split(",")]
        for name in names:
            if self.known and name not in self.known:
                self.fail(
                    f"{name!r} is not one of {', '.join(self.known)}{did_you_mean(name, self.known) or '.'}",
                    param,
                    ctx,
                )
        return list(dict.fromkeys(names))


def _item(text: str) -> list[float]:
    if ".." in text:
        return _powers(*text.split("..", 1))
    if ":" in text:
        return _spaced(*text.split(":"))
    power = _POWER.fullmatch(text)
    return [_number(text)] if power is None else [float(power[1]) ** int(power[2])]


def _powers(first: str, last: str) -> list[float]:
    low, high = _POWER.fullmatch(first.strip()), _POWER.fullmatch(last.strip())
    if low is None or high is None or float(low[1]) != float(high[1]):
        raise ValueError(f"{first}..{last} is not a range of powers of one number")
    start, end = int(low[2]), int(high[2])
    if abs(end - start) >= _MOST:
        raise ValueError(f"{first}..{last} is more than {_MOST:,} values")
    step = 1 if end >= start else -1
    return [float(low[1]) ** exponent for exponent in range(start, end + step, step)]


def _spaced(*parts: str) -> list[float]:
    if len(parts) != 3 or not parts[2].strip().isdigit() or not 2 <= int(parts[2]) <= _MOST:
        raise ValueError(f"{':'.join(parts)} is not FIRST:LAST:COUNT")
    first, last, count = _number(parts[0]), _number(parts[1]), int(parts[2])
    if first <= 0.0 or last <= 0.0:
        raise ValueError("numbers spaced in their logarithm are above 0")
    ratio = (last / first) ** (1.0 / (count - 1))
    between = (float(f"{first * ratio**k:.{_DIGITS}g}") for k in range(1, count - 1))
    return [first, *between, last]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
