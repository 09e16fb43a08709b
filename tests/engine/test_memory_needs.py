"""How much memory there is, how much models need, and what is said about it."""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard import LargeModelWarning, OnlineClassifier
from steelyard.engine import memory_needs
from steelyard.engine.many_models import ManyModels
from steelyard.engine.protocol import new_engine
from steelyard.losses import by_name
from steelyard.settings import SCALINGS, Settings
from tests.cli.running import run

LOGISTIC = Settings(by_name("logistic"))


def test_what_is_available(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_needs, "_CGROUP", tmp_path)
    unlimited = memory_needs.available()
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_needs._of_group() is None
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert memory_needs.available() == 2000 < unlimited


def test_where_the_system_does_not_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_needs, "_CGROUP", tmp_path)
    monkeypatch.setattr(Path, "read_text", lambda _: "no such line")
    assert memory_needs.available() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2

    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown)
    assert memory_needs.available() == 4 << 30


def test_bytes_for_people() -> None:
    assert memory_needs.format_bytes(0) == "0 bytes"
    assert memory_needs.format_bytes(1536) == "1.5 KiB"
    assert memory_needs.format_bytes(3 << 50) == "3.07e+03 TiB"


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize(("classes", "rates", "l1"), [(2, 1, 0.0), (2, 3, 0.0), (11, 1, 0.0), (3, 1, 0.1)])
def test_what_models_need_is_what_their_arrays_take(
    scaling: str, classes: int, rates: int, l1: float
) -> None:
    """But for what does not grow with the features, or is shared by all models: the origins of columns."""
    features = 1 << 12
    settings = [replace(LOGISTIC, scaling=scaling, l1=l1, learning_rate=0.1 * (k + 1)) for k in range(rates)]
    engine = new_engine(settings, classes, features)
    holder = engine.model_set if isinstance(engine, ManyModels) else next(engine.each_model())
    if settings[0].adaptive:
        holder.hold_gains()  # as weights that are no whole numbers need
    arrays = holder.arrays()
    beside = ("origins", "candidates", "columns")
    taken = sum(
        array.nbytes for name, array in arrays.items() if len(array) == features and not name.endswith(beside)
    )
    assert memory_needs.needed(settings, classes, features) == taken


def test_a_sentence_where_it_is_a_large_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_needs, "available", lambda: 8 << 30)
    assert memory_needs.advice([LOGISTIC], 2, 24) == []
    assert memory_needs.advice([LOGISTIC], 473, 20) == [
        "473 classes of 2^20 coefficients need 13.1 GiB of memory, and 8 GiB are available: bits=18 needs "
        "3.28 GiB, and labels='*,NAME' learns one class against the rest"
    ]
    assert memory_needs.advice([LOGISTIC], 2, 30) == [
        "1 model of 2^30 coefficients needs 32 GiB of memory, and 8 GiB are available: bits=28 needs 8 GiB"
    ]


def test_it_is_said_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, model = tmp_path / "rows.csv", tmp_path / "rows.model"
    path.write_text("label,a\n" + "x,1\ny,2\nz,3\n" * 10)
    monkeypatch.setattr(memory_needs, "available", lambda: 1 << 20)
    shown = run("train", path, "--bits", 14, "-o", model).stderr
    assert "note: 3 classes of 2^14 coefficients need 7 MiB of memory, and 1 MiB are available" in shown
    with pytest.warns(LargeModelWarning, match="bits=12 needs 1.75 MiB, and labels=") as told:
        OnlineClassifier().fit_files(path, bits=14)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OnlineClassifier().fit_files(path, bits=8)
