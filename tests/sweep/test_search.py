"""The search: agreement with single models, rounds, passes, divergence, and going on after a stop."""

import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.engine import row_sources as all_rows
from steelyard.engine.row_sources import RowsInChunks, RowsInMemory
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.losses import class_labels, decision_point
from steelyard.model import Settings
from steelyard.sweep import grid, search
from steelyard.sweep.results import Results
from steelyard.sweep.search import Search, SearchProgress
from steelyard.sweep.state_file import StateFile
from tests.engine import problems
from tests.engine.problems import FEATURES

BASE = Settings(scaling="row_norm", dtype="float64")
AXES: dict[str, Any] = {
    "loss": ["squared", "tanh_logarithmic"],  # which call the classes by different labels
    "update": ["explicit", "invariant"],
    "learning_rate": [0.1, 0.5],
}
FEW: dict[str, Any] = {"loss": ["squared"], "learning_rate": [0.1 * k for k in range(1, 41)]}


def points(axes: grid.Grid, base: Settings = BASE) -> list[grid.Point]:
    return grid.expand(base, axes).points


def same(one: Results, other: Results) -> None:
    """To the last bit."""
    assert one.found.keys() == other.found.keys()
    for name, column in one.found.items():
        assert column.tobytes() == other.found[name].tobytes(), name


def alone(point: grid.Point, rows: Examples, learned: Any, held: Any) -> tuple[float, float, float, float]:
    """The figures of one point by the single kernel: one pass."""
    loss = point.settings.loss
    low, high = class_labels(loss)
    coded = replace(rows, labels=np.where(rows.labels > 0.5, high, low))
    learner = Learner(point.settings, FEATURES)
    before = learner.learn(coded.take(learned))
    after = learner.predict(coded.take(held))
    boundary = decision_point(loss)
    wrong = [
        np.average((values > boundary) != (rows.labels[which] > 0.5), weights=rows.sample_weight[which])
        for values, which in ((before, learned), (after, held))
    ]
    value = np.array([loss.value(p, y) for p, y in zip(after, coded.labels[held], strict=True)])
    lost = np.average(value, weights=rows.sample_weight[held])
    return learner.model.progressive_loss, wrong[0], float(lost), 1.0 - wrong[1]


def test_it_agrees_with_the_single_kernel() -> None:
    rows = problems.two_classes()
    held = np.arange(6, len(rows), 7)
    results = Search(points(AXES), RowsInMemory(rows, 7), features=FEATURES, classes=2).run()
    names = ("progressive_loss", "progressive_error", "held_out_loss", "held_out_accuracy")
    for number, point in enumerate(results.points):
        expected = alone(point, rows, np.delete(np.arange(len(rows)), held), held)
        assert [results.found[name][number] for name in names] == pytest.approx(expected, rel=1e-5)


def test_numbers() -> None:
    rows = problems.numbers()
    results = Search(
        points({"loss": ["squared"], "learning_rate": [0.1, 0.5]}), RowsInMemory(rows), features=FEATURES
    ).run()
    assert "progressive_error" not in results.found
    for number, point in enumerate(results.points):
        learner = Learner(point.settings, FEATURES)
        learner.learn(rows)
        assert results.found["progressive_loss"][number] == pytest.approx(
            learner.model.progressive_loss, rel=1e-5
        )


def test_many_classes() -> None:
    rows = problems.many_classes()
    made = Search(points({"learning_rate": [0.01, 0.1]}), RowsInMemory(rows, 3), features=FEATURES, classes=3)
    assert not any(settings.follow_labels for settings in made._settings)
    results = made.run()
    assert results.found["held_out_accuracy"][1] > 0.8
    assert results.best_index == 1
    assert (results.found["progressive_error"] > 0.0).all()


def test_labels_that_a_loss_does_not_take() -> None:
    with pytest.raises(ValueError, match=r"a row has the label .*: Logistic loss takes -1 or 1"):
        Search(points({"loss": ["logistic"]}), RowsInMemory(problems.numbers()), features=FEATURES).run()


def test_rows_without_a_label_count_for_nothing() -> None:
    rows = problems.numbers(60)
    absent = np.arange(60) % 4 == 3
    some = replace(
        rows, labels=np.where(absent, np.nan, rows.labels), sample_weight=np.where(absent, 0.0, 1.0)
    )
    found = Search(points(FEW), RowsInMemory(some, 2), features=FEATURES).run()
    assert not found.found["diverged"].any()
    assert np.isfinite(found.found["held_out_loss"]).all()


def test_nothing_held_out_has_any_weight() -> None:
    rows = problems.numbers(5)
    rows = replace(rows, sample_weight=np.array([1.0, 0.0, 1.0, 0.0, 1.0]))
    found = Search(points({"learning_rate": [0.1]}), RowsInMemory(rows, 2), features=FEATURES).run()
    assert np.isnan(found.found["held_out_loss"]).all()


def test_the_progressive_loss_is_that_of_the_first_pass() -> None:
    rows = problems.two_classes()
    once = Search(points(FEW), RowsInMemory(rows, 5), features=FEATURES, classes=2).run()
    thrice = Search(points(FEW), RowsInMemory(rows, 5), features=FEATURES, classes=2, passes=3).run()
    assert once.found["progressive_loss"].tobytes() == thrice.found["progressive_loss"].tobytes()
    assert (once.found["held_out_loss"] != thrice.found["held_out_loss"]).all()


def test_rounds_and_threads_change_nothing() -> None:
    rows = problems.two_classes()
    axes = AXES | {"learning_rate": [0.01 * k for k in range(1, 41)]}
    whole = Search(points(axes), RowsInMemory(rows, 5), features=FEATURES, classes=2, threads=1)
    cut = Search(points(axes), RowsInMemory(rows, 5), features=FEATURES, classes=2, memory=12_000, threads=3)
    assert len(whole.plan.rounds) == 1
    assert len(cut.plan.rounds) > 2
    same(whole.run(), cut.run())


def test_chunks_change_no_bit_of_what_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files come in chunks of other sizes if there are more threads."""
    monkeypatch.setattr(search, "_MEASURED", 7)
    rows = problems.two_classes(200)

    def swept(size: int) -> Results:
        chunks = [rows.take(np.arange(k, min(k + size, 200))) for k in range(0, 200, size)]
        source = RowsInChunks(lambda: iter(chunks), 3)
        grid_of = points({"learning_rate": [0.1, 0.7]})
        return Search(grid_of, source, features=rows.features, classes=2, threads=1).run()

    same(swept(200), swept(23))
    same(swept(200), swept(1))


def test_a_model_that_diverges_is_frozen_and_disturbs_nobody() -> None:
    rows = problems.two_classes(2000)
    tame: dict[str, Any] = {"loss": ["squared"], "update": ["explicit"], "learning_rate": [0.1, 0.2]}
    wild = tame | {"learning_rate": [0.1, 0.2, 100.0, 3.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = Search(points(wild), RowsInMemory(rows, 5), features=FEATURES, classes=2).run()
    alone = Search(points(tame), RowsInMemory(rows, 5), features=FEATURES, classes=2).run()
    assert results.found["diverged"].tolist() == [False, False, True, True]
    assert np.isnan(results.found["progressive_loss"]).tolist() == [False, False, True, True]
    assert np.isnan(results.found["held_out_loss"]).tolist() == [False, False, True, True]
    assert results.found["held_out_accuracy"][2:].tolist() == [0.0, 0.0]
    for name, column in alone.found.items():
        assert results.found[name][:2] == pytest.approx(column, rel=1e-12)
    assert results.best_index in (0, 1)


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_rows, "PIECE", 100)
    seen: list[SearchProgress] = []
    search = Search(
        points(FEW), RowsInMemory(problems.two_classes()), features=FEATURES, classes=2, memory=6000, passes=2
    )
    search.run(seen.append)
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert seen[-1].number + 1 == seen[-1].rounds == len(search.plan.rounds) == 2
    assert seen[-1].learned == 40 * 300 * 2


class Stop(BaseException):
    pass


def test_it_goes_on_in_the_middle_of_a_unit_of_weight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_rows, "PIECE", 64)
    rows = problems.two_classes()
    rows = replace(rows, sample_weight=np.random.default_rng(0).uniform(0.0, 3.0, len(rows)))
    adaptive = points(FEW, Settings(scaling="adaptive", dtype="float64"))
    whole = Search(adaptive, RowsInMemory(rows, 5), features=FEATURES, classes=2).run()

    def watch(progress: SearchProgress) -> None:
        raise Stop

    search = Search(adaptive, RowsInMemory(rows, 5), features=FEATURES, classes=2, state=tmp_path / "state")
    with pytest.raises(Stop):
        search.run(watch)
    again = Search(adaptive, RowsInMemory(rows, 5), features=FEATURES, classes=2, state=tmp_path / "state")
    same(whole, again.run())


@pytest.mark.parametrize(
    ("rows", "classes"),
    [(problems.two_classes(), 2), (problems.many_classes(), 3), (problems.numbers(), 0)],
    ids=["two classes", "many classes", "numbers"],
)
def test_it_goes_on_where_it_was_stopped(
    rows: Examples, classes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_rows, "PIECE", 64)
    state = tmp_path / "state"
    axes = FEW | ({} if classes == 2 else {"l1": [0.0, 0.1], "learning_rate": [0.1, 0.2]})
    memory = None if classes == 3 else 6000
    given: dict[str, Any] = {"features": FEATURES, "classes": classes, "passes": 2, "memory": memory}
    whole = Search(points(axes), RowsInMemory(rows, 5), **given, threads=1).run()
    stops = 0
    while True:
        countdown = iter([None, None, Stop])

        def watch(progress: SearchProgress, countdown: Any = countdown) -> None:
            if next(countdown) is Stop:
                raise Stop

        # other threads and another limit of memory: the state knows what it was begun with
        changed = given | ({"threads": 1 + stops % 3} if classes != 3 else {"threads": 2})
        try:
            parts = Search(points(axes), RowsInMemory(rows, 5), **changed, state=state).run(watch)
            break
        except Stop:
            assert state.exists()
            stops += 1
    assert stops > 1
    assert not state.exists()
    same(whole, parts)


def test_a_finished_round_is_kept_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []
    monkeypatch.setattr(StateFile, "save", lambda self, position, arrays: saved.append(position["number"]))
    made = Search(
        points(FEW),
        RowsInMemory(problems.two_classes()),
        features=FEATURES,
        classes=2,
        memory=6000,
        state=tmp_path / "s",
    )
    made.run()
    assert saved == [1]


def test_without_a_state_a_stop_leaves_nothing(tmp_path: Path) -> None:
    def watch(progress: SearchProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Search(points(FEW), RowsInMemory(problems.two_classes()), features=FEATURES, classes=2).run(watch)


KILLED = """
import itertools, sys, time
from pathlib import Path
from steelyard.engine.row_sources import RowsInChunks, RowsInMemory
from steelyard.sweep.search import Search
from tests.engine import problems
from tests.sweep.test_search import FEW, chunks, points

calls = itertools.count()
def watch(progress):
    Path(sys.argv[2]).touch()
    time.sleep(0.02 if next(calls) < 50 else 3600.0)  # however late it is killed, it has not ended

given = {"features": problems.FEATURES, "classes": 2, "state": sys.argv[1], "every": 0.0}
Search(points(FEW), RowsInChunks(chunks, 5), **given).run(watch)
"""


def chunks() -> list[Examples]:
    whole = problems.two_classes(4000)
    return [whole.take(np.arange(start, start + 40)) for start in range(0, 4000, 40)]


def test_it_goes_on_after_being_killed(tmp_path: Path) -> None:
    state, begun = tmp_path / "state", tmp_path / "begun"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(state), str(begun)], cwd=Path(__file__).parents[2]
    )
    while not (begun.exists() and state.exists()):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert state.exists()
    given: dict[str, Any] = {"features": FEATURES, "classes": 2}
    first: list[SearchProgress] = []
    resumed = Search(points(FEW), RowsInChunks(chunks, 5), **given, state=state).run(first.append)
    assert first[0].learned == 40 * 32
    assert len(first) < 100
    same(resumed, Search(points(FEW), RowsInChunks(chunks, 5), **given).run())
