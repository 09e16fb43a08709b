"""The file in which a search keeps how far it is."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.sweep.state_file import StateFile

ARRAYS = {"model.0.weights": np.arange(6.0).reshape(2, 3), "none": np.zeros(0)}


def state(path: Path, every: float = 30.0, **identity: object) -> StateFile:
    return StateFile(path, {"files": ["a", "b"], "passes": 1} | identity, every)


def test_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "state"
    assert state(path).load() is None
    state(path).save({"turns": 3}, ARRAYS)
    loaded = state(path).load()
    assert loaded is not None
    assert loaded[0] == {"turns": 3}
    assert {name: array.tolist() for name, array in loaded[1].items()} == {
        name: array.tolist() for name, array in ARRAYS.items()
    }
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]
    state(path).remove()
    state(path).remove()
    assert not path.exists()


def test_when_it_is_due(tmp_path: Path) -> None:
    made = state(tmp_path / "state", every=1000.0)
    due = [made.due]
    made.expire()
    due.append(made.due)
    made.save({}, {})
    due.append(made.due)
    assert due == [False, True, False]
    assert state(tmp_path / "other", every=0.0).due


def test_of_another_sweep(tmp_path: Path) -> None:
    path = tmp_path / "state"
    state(path).save({}, ARRAYS)
    with pytest.raises(ValueError, match="state: the state of another sweep, whose passes differed"):
        state(path, passes=2).load()


def test_no_state(tmp_path: Path) -> None:
    path = tmp_path / "state"
    for content in (b"", b"text", b"PK\x03\x04 cut short"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not the state of a sweep, or a damaged one"):
            state(path).load()
    with path.open("wb") as file:
        np.savez(file, about=np.frombuffer(json.dumps([]).encode(), np.uint8))
    with pytest.raises(ValueError, match="not the state of a sweep"):
        state(path).load()
    with path.open("wb") as file:
        about = {"format": 99, "identity": {}, "position": {}}
        np.savez(file, about=np.frombuffer(json.dumps(about).encode(), np.uint8))
    with pytest.raises(ValueError, match="written by another release"):
        state(path).load()
    with pytest.raises(ValueError, match="is not a file"):
        state(tmp_path)
