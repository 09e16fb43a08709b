"""`Choice`: an option that takes one of some words, and says which one was probably meant."""

from typing import Any

import click

from steelyard._messages import did_you_mean


class Choice(click.Choice[str]):
    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        said = super().get_invalid_choice_message(value, ctx)
        hint = did_you_mean(str(value), map(str, self.choices))
        return said.removesuffix(".") + hint if hint else said
