"""Options that say what becomes a feature: words, interactions, namespaces, and how many coefficients there are."""

import click

from steelyard.cli.grouped_help import several
from steelyard.cli.option_types import Choice
from steelyard.cli.wording import error_text

HEADING = "Text and features"


def _characters(ctx: click.Context, param: click.Parameter, given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    from steelyard.io.read_options import parse_characters

    try:
        return parse_characters(given)
    except ValueError as error:
        raise click.BadParameter(f"{error_text(error)}.", ctx, param) from None


TEXTS = several(
    click.option(
        "--words", type=click.IntRange(0, 16), default=1, show_default=True, metavar="N",
        help="Use runs of 1 to N words of a text.",
    ),
    click.option(
        "--characters", callback=_characters, metavar="LEAST-MOST",
        help="Also use runs of LEAST to MOST characters, as in 3-5; with --words 0, only these.",
    ),
    click.option(
        "--repeated", type=Choice(["relative", "sublinear", "binary", "counts"]), default="relative",
        show_default=True,
        help="The value of a word that occurs n times in a text: sublinear 1 + log n, relative that divided "
        "by the length of the text, binary 1, counts n.",
    ),
    heading=HEADING,
)  # fmt: skip
INTERACTIONS = several(
    click.option(
        "--interactions", multiple=True, metavar="A*B",
        help="Also learn products of the features of these namespaces or columns; may be repeated.",
    ),
    heading=HEADING,
)  # fmt: skip
BITS = several(
    click.option(
        "--bits", type=click.IntRange(1, 30), metavar="N",
        help="The model has 2^N coefficients.  [default: 20]",
    ),
    heading=HEADING,
)  # fmt: skip
NAMES = several(
    click.option(
        "--names/--no-names", default=True, show_default=True,
        help="Save the names of features, which inspect and explain show.",
    ),
    heading=HEADING,
)  # fmt: skip
NAMESPACES = several(
    click.option(
        "-q", "--quadratic", multiple=True, metavar="AB",
        help="Also learn products of the features of two or more namespaces, by their first letters; : means "
        "every one. With whole names or columns, as in -q 'user*item', the same as --interactions.",
    ),
    click.option(
        "--keep", multiple=True, metavar="LETTERS",
        help="Use only namespaces that begin with these letters.",
    ),
    click.option(
        "--ngram", multiple=True, metavar="N",
        help="Also learn runs of 2 to N features of a namespace; a2: of those that begin with a.",
    ),
    click.option("--skips", multiple=True, metavar="N", help="N-grams may skip up to N features."),
    heading="Namespaces of Vowpal Wabbit text",
)  # fmt: skip
