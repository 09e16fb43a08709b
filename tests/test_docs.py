"""The pages under docs/ tell the truth: examples run, sources are the real ones, no parameter is missing."""

import doctest
import inspect
import re
import runpy
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from docs import generate_api
from steelyard import OnlineClassifier, OnlineRegressor, Sweep
from steelyard.cli import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
OWN_LOSS = DOCS / "examples/own_loss.py"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def headings(path: Path) -> set[str]:
    """As they are linked to."""
    lines = without_code(path.read_text(encoding="utf-8")).splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in titles}


# api.md shows docstrings, which run as doctests where they stand.
@pytest.mark.no_cover
@pytest.mark.parametrize("name", [name for name in PAGES if ">>> " in page(name) and name != "api.md"])
def test_the_examples_run(name: str) -> None:
    failed, _ = doctest.testfile(
        str(DOCS / name), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0


@pytest.mark.no_cover
def test_the_tutorial_of_the_command_line_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```console\n(.*?)^```$", page("tutorial-command-line.md"), re.MULTILINE | re.DOTALL
    )
    steps = [step.partition("\n") for step in "".join(blocks).removeprefix("$ ").split("\n$ ")]
    assert len(steps) >= 10
    checker = doctest.OutputChecker()
    for command, _, shown in steps:
        program, *words = shlex.split(command)
        if program == "head":
            lines = (tmp_path / words[2]).read_text(encoding="utf-8").splitlines(keepends=True)
            printed = "".join(lines[: int(words[1])])
        else:
            result = CliRunner().invoke(main, words, env={"COLUMNS": "100"})
            assert result.exit_code == 0, result.output
            printed = result.output
        expected = shown.rstrip("\n").replace("…", "...")
        # Single precision: the last digits depend on the processor.
        expected = re.sub(r"(\.\d{4})\d{2,}", r"\1...", expected)
        assert checker.check_output(
            expected + "\n" if expected else "", printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        ), f"{command}\n{printed}"


def test_the_reference_of_the_python_interface_is_as_it_would_be_written_now() -> None:
    assert page("api.md") == generate_api.page(), "docs/api.md is stale: make docs"


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


@pytest.mark.parametrize(
    "path", [*(DOCS / name for name in PAGES), ROOT / "README.md"], ids=lambda path: path.name
)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text(encoding="utf-8"))):
        if target.startswith("https://"):
            continue
        file, _, heading = target.partition("#")
        found = path.parent / file if file else path
        assert found.exists(), target
        assert not heading or heading in headings(found), target


def test_the_site_has_every_page_once() -> None:
    def leaves(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        return [
            leaf for each in (entry.values() if isinstance(entry, dict) else entry) for leaf in leaves(each)
        ]

    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert sorted(leaves(settings["project"]["nav"])) == PAGES


@pytest.mark.parametrize("name", [name for name in PAGES if "<!-- written by" in page(name)])
def test_pages_of_figures_say_which_command_wrote_them(name: str) -> None:
    for module in re.findall(r"<!-- written by ([\w.]+) -->", page(name)):
        visible = re.sub(r"<!--.*?-->", "", page(name))
        assert module in visible, f"{name} has figures of {module}, and does not say so"
