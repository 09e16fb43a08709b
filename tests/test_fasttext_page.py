"""Every row of the table for those who come from fastText: its commands are run."""

import re
import shlex
from pathlib import Path

import pytest

from steelyard.cli.fasttext_options import ANSWERS
from tests.cli.running import run

PAGE = (Path(__file__).parent.parent / "docs/from-fasttext.md").read_text(encoding="utf-8")
TABLE = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.partition("## Command by command")[2].splitlines()
    if line.startswith("| `")
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the table, and models of them."""
    words = {"bad": "cheap pills now", "good": "a clear proof", "odd": "un deux trois"}
    two, three = (
        "".join(f"__label__{name} {words[name]} {k}\n" for k in range(15) for name in names)
        for names in (("bad", "good"), tuple(words))
    )
    for name in ("train", "test", "more"):
        (tmp_path / f"{name}.txt").write_text(two)
    (tmp_path / "three.txt").write_text(three)
    monkeypatch.chdir(tmp_path)
    run("train", "train.txt", "-o", "model.model")
    run("train", "three.txt", "-o", "three.model")
    return tmp_path


def test_the_table_is_there() -> None:
    assert len(TABLE) >= 18
    assert all(len(row) == 2 for row in TABLE)


# The options that fastText's own help lists, apart from -t, which is Vowpal Wabbit's, too, and -qnorm and
# -qout, which are interactions here.
THEIRS = (Path(__file__).parent / "data/fasttext-flags.txt").read_text().split()


@pytest.mark.parametrize("flag", sorted({*THEIRS, *ANSWERS}))
def test_their_flag_is_answered(flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-wordNgrams` was answered with "No such option -w", and `-output m` named a file `utput`."""
    monkeypatch.chdir(tmp_path)
    for command in ("train", "predict"):
        said = run(command, "x.txt", flag, "2", code=2).stderr
        assert f"No such option '{flag}', a flag of fastText: {ANSWERS[flag]}" in said
    assert list(tmp_path.iterdir()) == []


def test_flags_are_answered_at_once() -> None:
    said = run(
        "supervised", "-input", "train.txt", "-output", "m", "-wordNgrams", "2", "-lr", "1", code=2
    ).stderr
    assert "'-input', a flag of fastText: name files without a flag: steelyard train FILE" in said
    assert "\n-output: use -o MODEL\n-wordNgrams: use --words N\n-lr: use --learning-rate N" in said


def test_flags_in_the_table_are_answered() -> None:
    flags = {flag for theirs, _ in TABLE for span in re.findall("`(.+?)`", theirs)
             for flag in re.findall(r"(?<!\S)-[a-zA-Z][\w-]*", span)}  # fmt: skip
    assert flags
    assert flags <= set(ANSWERS)


@pytest.mark.no_cover
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("ours", [row[1] for row in TABLE], ids=[row[0].split("`")[1] for row in TABLE])
def test_what_the_row_says_is_run(ours: str) -> None:
    """With fewer bits, so that it takes no time."""
    commands = [each for each in re.findall("`(.+?)`", ours) if each.startswith("steelyard ")]
    for command in commands:
        _, *arguments = shlex.split(command)
        result = run(*arguments, stdin=b"a clear proof\n" if "-" in arguments else None)
        if arguments[0] == "predict":
            assert result.stdout.strip()
    assert commands or "SteelyardFilter" in ours  # which has a test of its own
