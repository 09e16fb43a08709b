"""`steelyard demo`, as a whole."""

import errno
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from steelyard.cli import main
from steelyard.demo import experiment, page

FILES = [
    "all.model", "groups.csv", "predicted.csv", "report.html", "titanic-all.csv", "titanic-test.csv",
    "titanic.csv", "titanic.model", "unweighted.model", "weights.html",
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in a folder of its own, where everything lands without --output; and in two orders."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiment, "ORDERS", 2)
    return tmp_path


def demo(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["demo", *arguments], env={"COLUMNS": "80"})


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def commands(result: Result) -> list[list[str]]:
    """Those under the last heading, in words."""
    text = result.stdout.partition("The same by hand\n")[2].partition("\n\n")[0]
    return [shlex.split(line)[1:] for line in text.splitlines()]


@pytest.mark.no_cover
def test_everything_lands_here_and_the_same_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.commands.demo.which", lambda name: f"/bin/{name}")
    result = demo()
    assert result.exit_code == 0, result.output
    assert not result.stderr
    assert result.stdout.splitlines()[-1] == (
        "Pages for your browser: steelyard-demo/weights.html about weights, steelyard-demo/report.html"
    )
    made = folder / "steelyard-demo"
    assert names(made) == FILES
    contents = {name: (made / name).read_bytes() for name in FILES}
    assert demo().stdout == result.stdout
    assert {name: (made / name).read_bytes() for name in FILES} == contents
    assert b"prediction,probability_yes" in contents["predicted.csv"]


@pytest.mark.no_cover
def test_the_commands_run_and_give_the_figures_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.commands.demo.which", lambda _: None)
    result = demo("--output", "a b/c", "--seed", "7")
    assert "first: source " in result.stdout.splitlines()[-1]
    assert names(folder / "a b/c") == FILES
    for words in commands(result):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        if words[0] == "train":
            found = [_evaluated([*words, "--shuffle", "--seed", str(k)]) for k in range(experiment.ORDERS)]
            accuracy, loss = (fmean(each[name] for each in found) for name in ("accuracy", "log_loss"))
            assert f"{accuracy:8.1%}{loss:10.3f}" in result.stdout


def _evaluated(train: list[str]) -> dict[str, float]:
    """What `evaluate` says of the model that this command trains."""
    model = train[train.index("-o") + 1]
    assert CliRunner().invoke(main, [*train, "--force"]).exit_code == 0
    test = str(Path(model).with_name(experiment.TEST))
    found: dict[str, float] = json.loads(CliRunner().invoke(main, ["evaluate", model, test, "--json"]).stdout)
    return found


def test_what_cannot_be_is_said_in_a_line(folder: Path) -> None:
    (folder / "file").touch()
    result = demo("--output", "file")
    assert result.exit_code == 2
    assert "'file' is a file" in result.stderr
    assert names(folder) == ["file"]


@pytest.mark.no_cover
@pytest.mark.parametrize("trouble", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_nothing_half_written_stays_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, trouble: BaseException
) -> None:
    def fail(*_: object) -> str:
        raise trouble

    monkeypatch.setattr(page, "render", fail)
    (folder / "steelyard-demo").mkdir()
    (folder / "steelyard-demo/weights.html").write_text("old")
    result = demo()
    assert result.exit_code == 1
    assert re.search("Aborted!|Error: .*No space left on device", result.stderr)
    assert names(folder / "steelyard-demo") == FILES
    assert (folder / "steelyard-demo/weights.html").read_text() == "old"


@pytest.mark.parametrize("found", [None, "/bin/steelyard"])
def test_what_it_says_at_the_end(monkeypatch: pytest.MonkeyPatch, found: str | None) -> None:
    """Of a demo whose commands do nothing, so that it takes no time."""
    findings = SimpleNamespace(commands=["steelyard train"])
    monkeypatch.setattr(experiment, "run_experiment", lambda *_: findings)
    monkeypatch.setattr(page, "print_text", lambda *_, **__: None)
    monkeypatch.setattr(page, "write", lambda _: None)
    monkeypatch.setattr("steelyard.cli.commands.demo._call", lambda words: "{}")
    monkeypatch.setattr("steelyard.cli.commands.demo.which", lambda _: found)
    said = demo()
    assert said.exit_code == 0
    assert "The same by hand" in said.output
    assert ("source" in said.output) == (found is None)


def test_help_imports_neither_numba_nor_matplotlib_nor_jinja2() -> None:
    code = (
        "import sys; from steelyard.cli.commands.demo import command; "
        "sys.exit(bool({'numba', 'matplotlib', 'jinja2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
