"""The pages under docs/ tell the truth: examples run, sources are the real ones, no parameter is missing."""

import doctest
import inspect
import re
import runpy
from pathlib import Path

import pytest

from steelyard import OnlineClassifier, OnlineRegressor, Sweep

DOCS = Path(__file__).parent.parent / "docs"
OWN_LOSS = DOCS / "examples/own_loss.py"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def headings(name: str) -> set[str]:
    """As they are linked to."""
    lines = [line.lstrip("#").strip().lower() for line in page(name).splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", line).replace(" ", "-") for line in lines}


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("estimators.md", 10),
        ("learner.md", 5),
        ("from-sgd-classifier.md", 10),
        ("sweeps.md", 8),
        ("estimates.md", 10),
        ("active.md", 4),
    ],
)
def test_the_guides_run(name: str, least: int) -> None:
    failed, tried = doctest.testfile(
        str(DOCS / name), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert tried > least
    assert failed == 0


@pytest.mark.parametrize("cls", [OnlineClassifier, OnlineRegressor])
def test_the_guide_has_every_parameter_and_its_default(cls: type) -> None:
    rows = {line.split("`")[1]: line for line in page("estimators.md").splitlines() if line.startswith("| `")}
    for name, parameter in inspect.signature(cls).parameters.items():
        assert f"`{parameter.default!r}`" in rows[name].split("|")[2]


@pytest.mark.parametrize("cls", [OnlineClassifier, OnlineRegressor])
def test_the_guide_has_every_attribute(cls: type) -> None:
    X, y = [[0.0], [1.0]], [0, 1]
    fitted = [name for name in dir(cls().fit(X, y)) if name.endswith("_") and not name.startswith("_")]
    for name in fitted:
        assert f"`{name}`" in page("estimators.md")


def test_the_page_on_sweeps_has_every_parameter_and_its_default() -> None:
    rows = {line.split("`")[1]: line for line in page("sweeps.md").splitlines() if line.startswith("| `")}
    for name, parameter in inspect.signature(Sweep).parameters.items():
        default = "" if parameter.default is inspect.Parameter.empty else f"`{parameter.default!r}`"
        assert rows[name].split("|")[2].strip() == default


def test_the_page_on_losses_shows_the_real_source() -> None:
    assert f"```python\n{OWN_LOSS.read_text(encoding='utf-8').rstrip()}\n```\n" in page("own-loss.md")


def test_the_page_on_losses_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(OWN_LOSS), run_name="__main__")
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 2
    assert f"```\n{printed}```\n" in page("own-loss.md")


@pytest.mark.parametrize("name", sorted(path.name for path in DOCS.glob("*.md")))
def test_links_lead_somewhere(name: str) -> None:
    for part in page(name).split("](")[1:]:
        target = part.split(")")[0]
        if target.startswith("https://"):
            continue
        path, _, heading = target.partition("#")
        assert (DOCS / (path or name)).exists(), target
        assert not heading or heading in headings(path or name), target
