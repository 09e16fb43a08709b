"""What is finished is never done again; what is damaged is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import steelyard
from paper import source_code
from paper.store import Store
from paper.study import Row, Step

ROWS: list[Row] = [{"x": 1, "y": "2"}, {"x": 0.5, "y": ""}]


def step(key: str = "a b/c", compute: Callable[[], list[Row]] = lambda: ROWS, **inputs: object) -> Step:
    return Step("table", key, inputs, compute)


def test_rows_are_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.seconds(step()) is None
    seconds = store.do(step())
    assert store.seconds(step()) == seconds
    assert store.gather([step()]) == {"table": ROWS}
    assert (tmp_path / "tables/table.csv").read_text() == "x,y\n1,2\n0.5,\n"
    assert (tmp_path / "steps/table/a_b-c.csv").read_text() == "x,y\n1,2\n0.5,\n"


def test_the_same_inputs_are_the_same(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.do(step(seeds=(1, 2)))
    assert store.seconds(step(seeds=(1, 2))) is not None  # a tuple is a list in the file
    assert store.seconds(step(seeds=(1, 3))) is None
    assert store.seconds(step()) is None


def test_another_version_is_another_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.do(step())
    monkeypatch.setattr(steelyard, "__version__", "0.0.0")
    assert store.seconds(step()) is None


def test_other_code_of_the_library_is_another_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of an old kernel must not pass for those of a new one that has the same version."""
    store = Store(tmp_path)
    store.do(step())
    monkeypatch.setattr(source_code, "library", lambda: "other")
    assert store.seconds(step()) is None


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def swap(path: Path) -> None:
    path.write_text(path.read_text().replace("1", "7"))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def of_another_kind(path: Path) -> None:
    path.write_text("[1, 2]")


def without_a_key(path: Path) -> None:
    found = json.loads(path.read_text())
    del found["rows"]
    path.write_text(json.dumps(found))


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        ("csv", cut),
        ("csv", swap),
        ("csv", empty),
        ("csv", Path.unlink),
        ("json", cut),
        ("json", empty),
        ("json", Path.unlink),
        ("json", of_another_kind),
        ("json", without_a_key),
    ],
)
def test_damage_is_noticed(tmp_path: Path, suffix: str, damage: Callable[[Path], None]) -> None:
    store = Store(tmp_path)
    store.do(step("k"))
    damage(tmp_path / f"steps/table/k.{suffix}")
    assert store.seconds(step("k")) is None
    store.do(step("k"))
    assert store.gather([step("k")]) == {"table": ROWS}


def test_new_rows_never_pass_for_the_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the two files, the step is to be done again."""
    store = Store(tmp_path)
    store.do(step("k", seed=1))

    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("paper.store.write_text", full)
    with pytest.raises(OSError, match="No space"):
        store.do(step("k", seed=2))
    assert store.seconds(step("k", seed=1)) is None
    assert store.seconds(step("k", seed=2)) is None


def test_a_step_that_fails_leaves_its_old_rows(tmp_path: Path) -> None:
    def fails() -> list[Row]:
        raise ZeroDivisionError

    store = Store(tmp_path)
    store.do(step("k"))
    with pytest.raises(ZeroDivisionError):
        store.do(step("k", fails))
    assert store.seconds(step("k")) is not None


@pytest.mark.parametrize("other", ["a b", "a_b", "A b"])
def test_two_steps_do_not_share_a_file(tmp_path: Path, other: str) -> None:
    with pytest.raises(ValueError, match=f"'a b' and '{other}'"):
        Store(tmp_path).check([step("a b"), step("c"), step(other)])


def test_no_rows_are_rows(tmp_path: Path) -> None:
    def nothing() -> list[Row]:
        return []

    store = Store(tmp_path)
    store.do(step("k", nothing))
    assert store.seconds(step("k", nothing)) is not None
    assert store.gather([step("k", nothing)]) == {"table": []}
