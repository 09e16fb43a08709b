"""Documents of files: which columns are shown, which labels are taken over, what cannot be labelled."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from steelyard.examples import Examples
from steelyard.io.columns import ColumnOverrides
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.labelling import corpus, document_rows
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import ProjectSettings

CLASSES = ("no", "yes")


def test_labels_of_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label,weight\nfree beer and more,yes,2\nsome other words,,1\n")
    found = corpus.read(str(path), classes=CLASSES)
    assert found.label == "label"
    assert [(each.id, each.label) for each in found.documents] == [("1", "yes"), ("2", None)]
    hidden = corpus.read(str(path), classes=CLASSES, hide_labels=True)
    assert [each.label for each in hidden.documents] == [None, None]
    wrong = corpus.read(str(path), classes=("a", "b"))
    with pytest.raises(InputError, match="row 1: the label 'yes' is neither a nor b"):
        list(wrong.documents)


def test_a_last_column_of_two_values_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,kind\nfree beer and more,a\nsome other words,b\n")
    assert corpus.read(str(path), classes=CLASSES).label is None
    named = corpus.read(str(path), classes=("a", "b"), overrides=ColumnOverrides(label="kind"))
    assert [each.label for each in named.documents] == ["a", "b"]


def test_single_columns_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('message\n"one, two"\n\nthree\n')
    found = corpus.read(str(path), classes=CLASSES)
    assert [each.fields for each in found.documents] == [{"message": "one, two"}, {"message": "three"}]
    with pytest.raises(InputError, match="ignore: there is no column 'mesage'"):
        corpus.read(str(path), classes=CLASSES, overrides=ColumnOverrides(ignore=("mesage",)))
    lines = tmp_path / "a.txt"
    lines.write_text("one, two\n\nthree; four\n")
    found = corpus.read(str(lines), classes=CLASSES)
    assert [each.fields["text"] for each in found.documents] == ["one, two", "three; four"]
    path.write_text("text;hour\na b c;3\nd e f;4\n")
    assert [each.fields["hour"] for each in corpus.read(str(path), classes=CLASSES).documents] == ["3", "4"]


def test_files_that_cannot_be_labelled(tmp_path: Path) -> None:
    rows = tmp_path / "a.vw"
    rows.write_text("1 |a b c\n")
    with pytest.raises(InputError, match="is vw, which has no texts to show"):
        corpus.read(str(rows), classes=CLASSES)
    nothing = tmp_path / "a.csv"
    nothing.write_text("id,label\n1,yes\n2,no\n")
    with pytest.raises(InputError, match="has no column to show"):
        corpus.read(str(nothing), classes=CLASSES)
    empty = tmp_path / "a.ris"
    empty.write_text("\n")
    with pytest.raises(InputError, match="has no documents"):
        corpus.read(str(empty), classes=CLASSES)
    import pyarrow
    from pyarrow import ipc

    converted = tmp_path / "a.arrow"
    kinds = {"indices": pyarrow.list_(pyarrow.int32()), "values": pyarrow.list_(pyarrow.float32())}
    schema = pyarrow.schema([("label", pyarrow.float64()), *kinds.items()])
    with ipc.new_file(str(converted), schema) as file:
        file.write(pyarrow.record_batch([[1.0], [[3]], [[1.0]]], schema=schema))
    with pytest.raises(InputError, match="was converted"):
        corpus.read(str(converted), classes=CLASSES)


def test_settings_and_projects_that_make_no_sense(tmp_path: Path) -> None:
    for classes, positive, more, message in (
        (("a",), "a", {}, "two or more different names"),
        (("a", ""), "a", {}, "two or more different names"),
        (("a", "b"), "c", {}, "neither a nor b"),
        (("a", "b"), "b", {"twice": 2.0}, "twice is a share"),
    ):
        with pytest.raises(InputError, match=message):
            ProjectSettings(classes, positive, **more)  # type: ignore[arg-type]
    path = tmp_path / "empty.txt"
    path.write_text("\n")
    with (
        Project(tmp_path / "a.journal") as project,
        pytest.raises(InputError, match="there are no documents"),
    ):
        project.begin(corpus.read(str(path), classes=CLASSES), ProjectSettings(CLASSES, "yes"))


def test_documents_become_rows_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that show whether documents can be learned from are the pool; only the next process parses."""
    parse, calls = document_rows.parse, 0

    def counted(batches: Iterable[Sequence[str]], spec: InputSpec, path: str) -> Examples:
        nonlocal calls
        calls += 1
        return parse(batches, spec, path)

    monkeypatch.setattr(document_rows, "parse", counted)
    path = tmp_path / "a.txt"
    path.write_text("one text\nanother text\none text\n")
    with Project(tmp_path / "a.journal") as project:
        assert project.begin(corpus.read(str(path), classes=CLASSES), ProjectSettings(CLASSES, "yes")) == 2
        first = project.classifier().pool_
        assert calls == 1
    with Project(tmp_path / "a.journal") as project:
        again = project.classifier().pool_
        assert calls == 2
    assert first is not None
    assert again is not None
    assert first.values.tolist() == again.values.tolist()
    assert first.indices.tolist() == again.indices.tolist()


def test_a_single_column_of_long_texts(tmp_path: Path) -> None:
    """Python's own reader of CSV ends at 131,072 characters."""
    long = "word " * 30_000
    for header in ("text", "t" * 140_000):
        path = tmp_path / "long.csv"
        path.write_text(f"{header}\n{long}\nshort\n")
        (name,) = corpus.read(str(path), classes=None).spec.columns.names  # type: ignore[union-attr]
        assert name == header
        assert [each.fields[header] for each in corpus.read(str(path), classes=None).documents] == [
            long,
            "short",
        ]
