"""Documents and labels in the file of a journal: equal ones together, the last word in force."""

from pathlib import Path

import pytest

from steelyard.active.identifiers import Item
from steelyard.active.journal import Journal
from steelyard.active.label_store import (
    IN_FILE,
    WITHDRAWN,
    Document,
    Label,
    LabelStore,
    in_force,
    majority_label,
)


def test_equal_documents_are_one_item(tmp_path: Path) -> None:
    documents = [Document(str(k), {"text": text, "n": k}) for k, text in enumerate(["a", "b", "a", "c"])]
    with Journal(tmp_path / "a.journal") as journal:
        store = LabelStore(journal)
        assert store.add_documents(documents[:3], ["text"], lambda items: {"x": items}, 0.0) == 2
        more = [documents[3], Document("9", {"text": "b"}, "yes")]
        assert store.add_documents(more, ["text"], lambda items: {"x": items}, 5.0) == 3
        assert [item for item, _ in store.documents()] == [0, 1, 0, 2, 1]
        assert store.count() == 5
        assert store.document(Item(0)).id == "0"
        assert store.project() == {"x": 3}
        assert store.labels() == [Label(Item(1), "yes", IN_FILE, 5.0, "import")]
        assert store.search("A", 10) == [0]
        store.close()


def test_documents_come_all_or_none(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.journal") as journal:
        store = LabelStore(journal)

        def broken() -> object:
            yield Document("1", {"text": "a"})
            raise ValueError("row 2 is broken")

        with pytest.raises(ValueError, match="row 2"):
            store.add_documents(broken(), ["text"], lambda _: {}, 0.0)  # type: ignore[arg-type]
        assert store.count() == 0
        assert store.project() is None

        def refused(items: int) -> dict[str, object]:
            raise ValueError(f"{items} items, {[*store.item_lines(10)]}")

        with pytest.raises(ValueError, match=r"1 items, \[\['{\"text\": \"a\"}'\]\]"):
            store.add_documents([Document("1", {"text": "a"})], ["text"], refused, 0.0)
        assert store.count() == 0
        store.close()


def test_the_last_word_counts() -> None:
    said = [
        Label(Item(0), "a", "ann", 1.0), Label(Item(0), "b", "ann", 2.0), Label(Item(1), "a", "ann", 3.0),
        Label(Item(1), None, "ann", 4.0, WITHDRAWN), Label(Item(2), None, "bob", 5.0),
        Label(Item(3), None, "bob", 5.0, WITHDRAWN),
    ]  # fmt: skip
    found = in_force(said)
    assert {item: {name: each.label for name, each in own.items()} for item, own in found.items()} == {
        0: {"ann": "b"}, 2: {"bob": None}
    }  # fmt: skip
    assert majority_label({"bob": None}) is None
    votes = {"x": "a", "y": "b", "z": "b"}
    assert majority_label(votes) == "b"
    assert majority_label(dict(list(votes.items())[:2])) == "a"
