"""Options under headings: `--help` of a command with many of them shows them group by group."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

MOST_USED = "Most used"
REST = "Other options"
_WIDTH = 24  # characters: the help of a longer option begins on the next line


def several(*given: Callable[..., Any], heading: str | None = None) -> Callable[[Any], Any]:
    """Several options as one decorator, in this order in the help, perhaps under a heading."""

    def decorate(command: Any) -> Any:
        before = len(getattr(command, "__click_params__", ()))
        for option in reversed(given):
            command = option(command)
        for parameter in command.__click_params__[before:]:
            parameter.heading = getattr(parameter, "heading", None) or heading
        return command

    return decorate


class GroupedCommand(click.Command):
    """A command whose help has headings: first its own, with options that it names, then those of `several`."""

    def __init__(self, *args: Any, headings: Mapping[str, Iterable[str]], **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.headings = {heading: list(names) for heading, names in headings.items()}

    def sections(self) -> dict[str, list[click.Option]]:
        """The options by heading, --help apart; what has no heading comes last."""
        options = {each.name: each for each in self.params if isinstance(each, click.Option)}
        found = {heading: [options.pop(name) for name in names] for heading, names in self.headings.items()}
        rest: list[click.Option] = []
        for option in options.values():
            heading = getattr(option, "heading", None)
            (rest if heading is None else found.setdefault(heading, [])).append(option)
        return found | ({REST: rest} if rest else {})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        help_option = self.get_help_option(ctx)
        for heading, options in self.sections().items():
            shown = [*options, *([] if help_option is None else [help_option])]
            help_option = None  # it is in the first section
            records = [record for each in shown if (record := each.get_help_record(ctx)) is not None]
            with formatter.section(heading):
                formatter.write_dl([(names.ljust(_WIDTH), text) for names, text in records], col_max=_WIDTH)
