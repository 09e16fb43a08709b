"""fastText's `__label__` files."""

import json
from pathlib import Path

import pytest

from steelyard.io import formats
from steelyard.io.fasttext_reader import split
from tests.cli.running import blocks_of, refused, run

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


def test_of_several_labels_the_first_counts(
    labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_of(300, monkeypatch)
    further = "__label__ham __label__short see you\n", "__label__ham see you __label__short __label__odd\n"
    model = tmp_path / "m.model"
    for count, note in (1, "1 row has several labels"), (5, "6 rows have several labels"):
        text = "".join(further[k % 2] for k in range(count))
        labelled.write_text(text + labelled.read_text() if count == 1 else labelled.read_text() + text)
        note += ": the first one counts, the others are left out"
        assert note in run("train", labelled, "--bits", "12", "--passes", 2, "-o", model).output
        assert f"note: {note}" in run("evaluate", model, labelled).stdout
        assert note in json.loads(run("evaluate", model, labelled, "--json").stdout)["notes"]
    plain = tmp_path / "plain.txt"
    plain.write_text("__label__ham see you\n__label__spam free cash\n" * 20)
    assert "several labels" not in run("evaluate", model, plain).stdout


@pytest.mark.parametrize(
    "lines",
    [
        ["free cash now"],
        ["see you", "free cash, now", "at lunch: 3 | 4"],
        ["free cash __label__spam", "see you, at lunch __label__ham __label__short"],
        ['{"not": "JSON"} __label__odd'],
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_lines_without_labels_and_with_labels_at_the_end(
    labelled: Path, tmp_path: Path, lines: list[str], first: bool
) -> None:
    """One of these, and it was taken for a table of one column."""
    if first and lines[0].startswith("{"):
        return
    text = labelled.read_text()
    added = "".join(line + "\n" for line in lines)
    labelled.write_text(added + text if first else text + added)
    assert formats.identify(str(labelled)).name == "fasttext"
    run("train", labelled, "--bits", "12", "-o", tmp_path / "m")
    assert len(run("predict", tmp_path / "m", labelled).stdout.splitlines()) == 60 + len(lines)


def test_all_labels_at_the_end(labelled: Path, tmp_path: Path) -> None:
    other = tmp_path / "end.txt"
    other.write_text("".join(f"{text} __label__{label}\n" for label, text in documents()))
    for path in (labelled, other):
        run("train", path, "--bits", "12", "-o", path.with_suffix(".model"))
    shown = [run("predict", path.with_suffix(".model"), labelled).stdout for path in (labelled, other)]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csv", "text,label\nfree cash,__label__spam\nsee you,__label__ham\n"),
        ("tsv", "text\tlabel\nfree cash\t__label__spam\nsee you\t__label__ham\n"),
        ("jsonl", '{"text": "a __label__ here", "label": "a"}\n{"text": "b", "label": "b"}\n'),
    ],
)
def test_labels_in_cells_are_those_of_tables(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(text * 5)
    assert formats.identify(str(path)).name == name


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
