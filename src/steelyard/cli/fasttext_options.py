"""What to use here for options of fastText, which are words behind a single dash.

Click would read `-lr` as `-l`, and `-output` as `-o utput`: so these are looked for before it reads anything.
"""

from collections.abc import Iterable

import click

_NO_VECTORS = "leave it out: there are no word vectors; each word has a coefficient of its own"
_TUNING = "use --learning-rate auto, or steelyard sweep FILE --holdout 10"
_SMALL = (
    "leave it out: models hold only features that occurred; steelyard export MODEL -o FILE writes small ones"
)
_HERE = {
    "-input": "name files without a flag: steelyard train FILE",
    "-output": "use -o MODEL",
    "-lr": "use --learning-rate N, or leave it out: the default rarely needs tuning",
    "-epoch": "use --passes N; one pass is usually enough",
    "-wordNgrams": "use --words N",
    "-minn -maxn": "use --characters 3-6, the shortest and the longest",
    "-bucket": "use --bits N for 2^N coefficients, which words and n-grams share",
    "-loss": "leave it out: several classes are learned one against the rest; steelyard losses lists others",
    "-thread": "use --threads N",
    "-label": "leave it out: labels begin with __label__",
    "-minCount -minCountLabel": "leave it out: all words and labels are learned",
    "-lrUpdateRate": "leave it out: the rate changes with every row",
    "-seed": "leave it out: nothing is random",
    "-verbose": "use --json for one JSON object, or > /dev/null",
    "-pretrainedModel": "use train FILE --resume MODEL",
    "-dim -ws -neg -pretrainedVectors -saveOutput": _NO_VECTORS,
    "-autotune-validation -autotune-duration -autotune-metric -autotune-predictions": _TUNING,
    "-autotune-modelsize": "use --bits N",
    "-cutoff -retrain -dsub": _SMALL,
}
ANSWERS = {flag: answer for flags, answer in _HERE.items() for flag in flags.split()}


def refuse(arguments: Iterable[str], ctx: click.Context) -> None:
    """Refuse options of fastText, and say for all of them at once what to type instead."""
    given = [each for each in dict.fromkeys(arguments) if each in ANSWERS]
    if given:
        said = f"No such option {given[0]!r}, a flag of fastText: {ANSWERS[given[0]]}"
        further = [f"{flag}: {ANSWERS[flag]}" for flag in given[1:]]
        raise click.NoSuchOption(given[0], "\n".join([said, *further]), ctx=ctx)
