"""`steelyard demo`, as a whole, on a small installation."""

import errno
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from steelyard.cli import main
from steelyard.demo import docstrings, report
from tests.demo import installation as installations

FILES = ["docstrings.model", "heavy.tsv", "held-out.tsv", "report.html", "train.tsv"]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("installation")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, installation: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own: without --output everything lands there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(docstrings, "find_installed", lambda: installations.make_packages(installation))
    return tmp_path


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def demo(*arguments: str, columns: int = 80) -> Result:
    return CliRunner().invoke(main, ["demo", *arguments], env={"COLUMNS": str(columns)})


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def commands(result: Result) -> list[list[str]]:
    """Those under the last heading, in words."""
    text = result.stdout.partition("The same by hand\n")[2].partition("\n\n")[0]
    return [shlex.split(line)[1:] for line in text.replace("\\\n", "").splitlines()]


def test_everything_lands_here_and_the_report_is_pointed_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.cli.demo.which", lambda name: f"/bin/{name}")
    result = demo()
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith("browser: steelyard-demo/report.html")
    assert not result.stderr
    assert names(folder / "steelyard-demo") == FILES
    page = (folder / "steelyard-demo/report.html").read_text(encoding="utf-8")
    assert page.count("<img") == 6
    headings = ("The question", "How good is it?", "Which words decide?", "What does a weight of 50 do?")
    for heading in headings:
        assert f"\n{heading}\n" in result.stdout


@pytest.mark.usefixtures("without_matplotlib")
def test_the_commands_run_and_give_the_figures_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.demo.which", lambda _: None)
    result = demo()
    assert "first: source " in result.stdout.splitlines()[-1]
    shown = " ".join(result.stdout.split())
    model = folder / "steelyard-demo/docstrings.model"
    made = model.read_bytes()
    model.unlink()
    figures = []
    for words in commands(result):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        if words[0] == "evaluate":
            figures.append(json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout))
    assert model.read_bytes() == made
    usual, explicit, invariant = figures
    assert f"It gets {usual['accuracy']:.1%} of the held-out docstrings right" in shown
    assert f"Area under the ROC curve: {usual['auc']:.3f}." in shown
    assert f"{explicit['accuracy']:.1%} right and a log loss of {explicit['loss']:.3g} (explicit)" in shown
    assert f"{invariant['accuracy']:.1%} and {invariant['loss']:.3g} (invariant)" in shown


@pytest.mark.usefixtures("without_matplotlib")
def test_the_same_again(folder: Path) -> None:
    first = demo()
    contents = {name: (folder / "steelyard-demo" / name).read_bytes() for name in FILES}
    again = demo()
    assert first.stdout == again.stdout
    assert contents == {name: (folder / "steelyard-demo" / name).read_bytes() for name in FILES}


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_the_page_has_no_plots(folder: Path) -> None:
    result = demo()
    assert result.exit_code == 0, result.output
    assert 'The plots of the report need matplotlib: pip install "steelyard[plot]"' in result.stdout
    page = (folder / "steelyard-demo/report.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert "matplotlib" in page


@pytest.mark.usefixtures("without_matplotlib")
def test_everything_fits_a_narrow_terminal() -> None:
    result = demo(columns=40)
    before, _, _ = result.stdout.partition("The same by hand")
    typed = ("steelyard", "    -")  # commands are never wrapped: they are to be copied
    lines = [line for line in before.splitlines() if not line.startswith(typed)]
    assert max(len(line.rstrip()) for line in lines) <= 40
    assert "docstrings  average loss" in before


@pytest.mark.usefixtures("without_matplotlib")
def test_another_folder_package_and_seed(folder: Path) -> None:
    result = demo("--output", "a b/c", "--package", "other", "--seed", "7")
    assert result.exit_code == 0, result.output
    assert names(folder / "a b/c") == FILES
    assert "--labels '*,other'" in result.stdout
    for words in commands(result)[:2]:
        assert CliRunner().invoke(main, words).exit_code == 0


def test_what_cannot_be_is_said_in_a_line(folder: Path) -> None:
    result = demo("--package", "nothing")
    assert result.exit_code == 1
    assert result.stderr == "Error: there is no package 'nothing'; there are other, python, sklearn\n"
    (folder / "file").touch()
    result = demo("--output", "file")
    assert result.exit_code == 2
    assert "'file' is a file" in result.stderr
    assert names(folder) == ["file"]


@pytest.mark.usefixtures("without_matplotlib")
@pytest.mark.parametrize("trouble", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_nothing_half_written_stays_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, trouble: BaseException
) -> None:
    def fail(*_: object) -> str:
        raise trouble

    monkeypatch.setattr(report, "render_page", fail)
    (folder / "steelyard-demo").mkdir()
    (folder / "steelyard-demo/report.html").write_text("old")
    result = demo()
    assert result.exit_code == 1
    assert re.search("Aborted!|Error: .*No space left on device", result.stderr)
    assert names(folder / "steelyard-demo") == FILES
    assert (folder / "steelyard-demo/report.html").read_text() == "old"


def test_this_installation_has_a_question_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    collected = docstrings.collect(docstrings.find_installed(), "sklearn", seed=1, most=200)
    assert collected.package == "sklearn"
    assert len(collected.train) + len(collected.held_out) == 400
    assert not any("sklearn" in text.lower() for _, text in collected.train)


def test_help_imports_neither_numba_nor_matplotlib_nor_jinja2() -> None:
    code = (
        "import sys; from steelyard.cli.demo import command; "
        "sys.exit(bool({'numba', 'matplotlib', 'jinja2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
