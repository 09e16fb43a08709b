"""fastText's `__label__` files."""

import json
from pathlib import Path

import pytest

from steelyard.io import formats
from steelyard.io.fasttext_reader import SEVERAL, split
from tests.cli.running import refused, run

WORDS = {"spam": "free cash prize now", "ham": "see you at lunch"}


def documents(count: int = 60) -> list[tuple[str, str]]:
    found = []
    for k in range(count):
        label = "spam" if k % 3 == 0 else "ham"
        words = WORDS[label].split()
        found.append((label, f"{words[k % 4]} {words[(k + 1) % 4]} number {k}"))
    return found


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text("".join(f"__label__{label} {text}\n" for label, text in documents()))
    return path


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b"__label__a", (b"a", b"", 1)),
        (b"__label__a b c", (b"a", b"b c", 1)),
        (b"b c", (b"", b"b c", 0)),
        (b"__label__a __label__b  c", (b"a", b"c", 2)),
        (b"b c __label__a", (b"a", b"b c", 1)),
        (b" __label__a c\r", (b"a", b"c", 1)),
        (b"x__label__a c", (b"", b"x__label__a c", 0)),
        (b"__label__a\rb c", (b"a", b"b c", 1)),
    ],
)
def test_lines(line: bytes, parts: tuple[bytes, bytes, int]) -> None:
    assert split(line) == parts


def test_the_same_model_as_from_json(labelled: Path, tmp_path: Path) -> None:
    table = tmp_path / "train.jsonl"
    table.write_text("".join(json.dumps({"label": a, "text": b}) + "\n" for a, b in documents()))
    assert formats.identify(str(labelled)).name == "fasttext"
    for path in (labelled, table):
        run("train", path, "--bits", "12", "-o", path.with_suffix(".model"))
    ours, theirs = labelled.with_suffix(".model"), table.with_suffix(".model")
    shown = [run("predict", model, path).stdout for model in (ours, theirs) for path in (labelled, table)]
    assert len(set(shown)) == 1
    assert json.loads(run("evaluate", ours, labelled, "--json").stdout)["accuracy"] > 0.9


def test_lines_without_labels_are_predicted(labelled: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.model"
    run("train", labelled, "--bits", "12", "-o", model)
    assert run("predict", model, "-", "--as", "label", stdin=b"free cash\n\nsee you\t\n").stdout.split() == [
        "spam", "ham",
    ]  # fmt: skip
    (tmp_path / "x.jsonl").write_text('{"text": "free cash"}\n')
    assert run("predict", model, tmp_path / "x.jsonl", "--as", "label").stdout.split() == ["spam"]
    run("predict", model, labelled, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("tag,prediction,probability_spam")


def test_of_several_labels_the_first_counts(labelled: Path, tmp_path: Path) -> None:
    labelled.write_text(labelled.read_text() + "__label__ham __label__short see you\n")
    shown = run("train", labelled, "--bits", "12", "-o", tmp_path / "m.model")
    assert SEVERAL in shown.output


def test_other_models_read_it_if_they_know_one_text(labelled: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text("class\twords\tsize\n" + "".join(f"{a}\t{b}\t{len(b)}\n" for a, b in documents()))
    roles = ("--label", "class", "--text", "words", "--bits", "12")
    run("train", table, *roles, "--ignore", "size", "-o", tmp_path / "one.model")
    run("train", table, *roles, "-o", tmp_path / "two.model")
    assert len(run("predict", tmp_path / "one.model", labelled).stdout.split()) == 60
    assert "is fasttext" in refused("predict", tmp_path / "two.model", labelled)


def test_roles_are_refused(labelled: Path) -> None:
    assert "no columns to give roles to" in refused("train", labelled, "--label", "x")
