"""A small Python installation: a standard library and some packages, with docstrings that can be learned."""

import random
from pathlib import Path

from steelyard.demo import docstrings
from steelyard.demo.docstrings import SourcePackage

OURS = ["estimator", "fit", "predict", "samples", "score", "kernel", "matrix", "feature", "tree"]
OTHERS = ["window", "parser", "command", "socket", "header", "handler", "thread", "token", "buffer"]
COMMON = ["the", "a", "of", "and", "value", "if", "is", "in", '"quotes"', "given", "for", "by"]
FILES = 12
IN_A_FILE = 10


def _write(root: Path) -> tuple[Path, Path]:
    """Write it under this folder; returns the standard library and site-packages."""
    standard, site = root / "lib", root / "lib" / "site-packages"
    draw = random.Random(0)
    for folder, vocabulary in ((site / "sklearn", OURS), (site / "other", OTHERS), (standard, OTHERS)):
        for number in range(FILES):
            path = folder / f"part{number % 3}" / f"module{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            functions = (f"def f{k}():\n    '''{_sentence(draw, vocabulary)}'''\n" for k in range(IN_A_FILE))
            path.write_text("\n".join(functions), encoding="utf-8")
    return standard, site


def make_packages(root: Path) -> list[SourcePackage]:
    """Write the installation under this folder; returns its packages."""
    standard, site = _write(root)
    return docstrings.find_packages(standard, [site])


def _sentence(draw: random.Random, vocabulary: list[str]) -> str:
    # one word in six is from the other side, so that there is something to be mistaken about
    strange = OTHERS if vocabulary is OURS else OURS
    kinds = (vocabulary, vocabulary, vocabulary, COMMON, COMMON, strange)
    return "Returns <b>this</b> & " + " ".join(
        draw.choice(draw.choice(kinds)) for _ in range(draw.randint(8, 20))
    )
