"""Every row of the table of flags for those who come from Vowpal Wabbit: what it says of ours is run."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from steelyard.cli import main
from steelyard.cli.fasttext_options import ANSWERS as FASTTEXT
from steelyard.cli.vw_options import ANSWERS, answer
from tests.cli.running import rows, run

PAGE = (Path(__file__).parent.parent / "docs/from-vowpal-wabbit.md").read_text(encoding="utf-8")
TABLE = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.partition("## Flag by flag")[2].splitlines()
    if line.startswith("| ") and not line.startswith("| Vowpal Wabbit")
]
COMMANDS = ("train", "predict", "evaluate", "serve", "inspect", "explain", "active")
OURS = sorted({ours for _, cell, *_ in TABLE for ours in re.findall("`(.+?)`", cell)})


@cache
def flags_of(command: str) -> set[str]:
    with main.make_context("steelyard", ["losses"]) as context:
        found = main.get_command(context, command)
    assert found is not None
    return {name for parameter in found.params for name in (*parameter.opts, *parameter.secondary_opts)}


def test_the_table_is_there() -> None:
    assert len(TABLE) > 40
    assert all(len(row) >= 2 for row in TABLE)


@pytest.mark.parametrize("theirs", [row[0] for row in TABLE])
def test_their_flag_is_answered(theirs: str) -> None:
    """By an option of the same name, or by an error that names ours."""
    for span in re.findall("`(.+?)`", theirs):
        for flag in re.findall(r"(?<!\S)--?[a-zA-Z]\w*", span):
            assert flag in flags_of("train") or answer(flag, flags_of("train")), flag


# The flags that Vowpal Wabbit's own help lists, without the settings of methods that are not here.
THEIRS = (Path(__file__).parent / "data/vowpal-wabbit-flags.txt").read_text().split()


@pytest.mark.parametrize("flag", THEIRS)
def test_every_flag_of_their_help_is_answered(flag: str) -> None:
    assert flag in flags_of("train") or answer(flag, flags_of("train"))


def test_answers_name_options_that_there_are() -> None:
    commands = (*COMMANDS[:-1], "sweep", "export")
    ours = {flag for command in commands for flag in flags_of(command)}
    ours |= {"--version", "-n"}  # of `steelyard` itself, and of head
    for flag, instead in (ANSWERS | FASTTEXT).items():
        named = set(re.findall(r"(?<!\S)--?[a-zA-Z][\w-]*", instead))
        assert named <= ours, (flag, named - ours)


def test_several_labels_are_no_classes() -> None:
    """It was said to use --classes, with which a row has one of them."""
    said = answer("--multilabel_oaa", flags_of("train"))
    assert said is not None
    assert "--classes" not in said
    assert "a model for each label" in said


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file, a model of it, and a file of three classes."""
    found = tmp_path_factory.mktemp("page")
    (found / "FILE").write_text(rows(60))
    (found / "THREE").write_text("".join(f"{k % 3 + 1} |a w{k % 3} x |b y\n" for k in range(30)))
    run("train", found / "FILE", "--bits", "12", "-o", found / "MODEL")
    return found


def test_flags_are_answered_by_every_command(folder: Path) -> None:
    file = folder / "FILE"
    for flag, instead in ANSWERS.items():
        if flag not in flags_of("train"):
            assert f"a flag of Vowpal Wabbit: {instead}" in run("train", file, flag, code=2).stderr
    assert "name files without a flag" in run("-d", file, code=2).stderr
    several = run(
        "train", file, "--oaa", "3", "-b", "18", "--loss_function=logistic", "--passes", "2", code=2
    ).stderr
    assert "\n-b: use --bits N\n--loss_function: use --loss" in several
    assert "--passes" not in several
    assert "use --power-t" in run("train", file, "--power_t", "1", code=2).stderr
    assert "steelyard predict MODEL" in run("predict", "-t", file, code=2).stderr
    assert "Vowpal" not in run("train", file, "--lable", code=2).stderr
    assert "Vowpal" not in run("train", file, "--no_such", code=2).stderr


@pytest.mark.parametrize("ours", OURS)
def test_what_is_ours_runs(ours: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = shlex.split(ours)
    if words[0] == "serve":
        assert "--port" in run("serve", "--help").stdout
        return
    if words[0] in COMMANDS:
        bits = ("--bits", "12") if words[0] == "train" else ()
        run(*words, *bits)
        return
    file = "THREE" if words == ["--classes"] else "FILE"
    bits = () if "--resume" in words or "--bits" in words else ("--bits", "12")
    output = () if "-o" in words else ("-o", "out.model")
    said = run("train", file, *words, *bits, *(output if words[0] != "--json" else ())).stdout
    if words == ["--classes"]:
        assert "classes: 3: 1, 2, 3" in said
