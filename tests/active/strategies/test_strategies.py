"""What every strategy shares: the registry, budgets, journals, and which estimates are possible."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from steelyard.active import strategies
from steelyard.active.estimates import ESTIMANDS
from steelyard.active.evaluation import Evaluation
from steelyard.active.journal import History, Journal
from steelyard.active.learner import ActiveLearner
from steelyard.active.simulation import Asker
from steelyard.active.stopping import Budget, ErrorBelow
from steelyard.active.strategies._base import BudgetPlan
from steelyard.active.strategies.margin import Margin
from steelyard.examples import Examples
from steelyard.model import Settings
from tests.active.streams import FEATURES, SETTINGS, answered, answered_from, learner, stream

OLD = Path(__file__).parent.parent.parent / "data/format-1.journal"


@dataclass
class Far(Margin):
    """A user's own: the rows farthest from the boundary, beyond a distance."""

    least: float = 0.5
    lane_code: ClassVar[int | None] = None

    def score(self, model: Any, examples: Any) -> tuple[Any, Any]:
        scores, predictions = super().score(model, examples)
        return np.where(scores > self.least, -scores, 0.0), predictions


def test_the_registry_finds_its_siblings() -> None:
    assert strategies.names() == ["iwal", "margin", "random", "relevance"]
    for name in strategies.names():
        strategy = strategies.by_name(name)
        assert strategies.name_of(strategy) == name
        assert strategy.summary
        own = {"picks": 0.01, "presumed": 100, "second": True} if name == "relevance" else {}
        assert strategy.describe() == {"name": name} | own
    with pytest.raises(ValueError, match=r"there is no strategy 'margins'; .*; did you mean 'margin'"):
        strategies.by_name("margins")


@pytest.mark.parametrize("strategy", strategies.names())
@pytest.mark.parametrize("given", [{"rate": 0.2}, {"budget": 80, "expected": 400}])
def test_every_strategy_keeps_to_its_plan(strategy: str, given: dict[str, Any]) -> None:
    chunk, labels = stream(400, noise=0.3)
    asking = answered(learner(strategy=strategy, **given), chunk, labels)
    assert asking.asked == pytest.approx(
        80, rel=0.35 if (strategy, "rate" in given) == ("random", True) else 0.1
    )
    assert "rate" in given or asking.asked <= 80
    assert asking.seen == 400
    fresh, truth = stream(2000, seed=9)
    assert np.mean(np.sign(asking.predict(fresh)) != truth) < 0.3


@pytest.mark.parametrize("strategy", strategies.names())
def test_how_the_stream_is_cut_does_not_matter(strategy: str) -> None:
    """Without answers in between, the same questions with the same probabilities."""
    chunk, labels = stream(300)
    whole, *others = (_asked_in_parts(strategy, chunk, labels, size) for size in (230, 23, 1))
    assert strategy != "iwal" or len(np.unique(whole.probability)) > 5
    for other in others:
        count = len(other.asked)
        np.testing.assert_array_equal(other.asked, whole.asked[:count])
        np.testing.assert_array_equal(other.probability, whole.probability[:count])


def _asked_in_parts(strategy: str, chunk: Examples, labels: Any, size: int) -> History:
    asking = answered(learner(rate=0.2, strategy=strategy), chunk.take(np.arange(70)), labels)
    for start in range(70, 300 if size > 1 else 200, size):
        asking.consider(chunk.take(np.arange(start, start + size)))
    return asking.history()


@pytest.mark.no_cover
@pytest.mark.parametrize("strategy", strategies.names())
@pytest.mark.parametrize(
    "given", [{"rate": 0.2}, {"budget": 60, "expected": 240}, {"rate": 0.3, "audit": 0.1}]
)
def test_resuming_a_stream_is_as_if_never_stopped(
    strategy: str, given: dict[str, Any], tmp_path: Path
) -> None:
    chunk, labels = stream(240)
    whole = answered(learner(strategy=strategy, **given), chunk, labels)
    for start in range(0, 240, 80):
        with Journal(tmp_path / "a.journal") as journal:
            asking = learner(journal, strategy=strategy, **given)
            assert asking.seen == start
            answered(asking, chunk.take(np.arange(start, start + 80)), labels[start : start + 80])
    with Journal(tmp_path / "a.journal") as journal:
        asking = learner(journal, strategy=strategy, **given)
        np.testing.assert_array_equal(asking.history().probability, whole.history().probability)
        np.testing.assert_array_equal(asking.history().label, whole.history().label)
        np.testing.assert_array_equal(asking.model.raw_coefficients, whole.model.raw_coefficients)
        np.testing.assert_array_equal(asking.probabilities(chunk), whole.probabilities(chunk))


@pytest.mark.parametrize("audit", [0.0, 0.05])
def test_resuming_a_ranked_pool_is_as_if_never_stopped(audit: float, tmp_path: Path) -> None:
    chunk, labels = stream(240)
    given: dict[str, Any] = {
        "strategy": "margin",
        "budget": 60,
        "expected": 240,
        "audit": audit,
        "pool": chunk,
    }
    whole = learner(**given)
    asked = answered_from(whole, labels)
    assert len(set(asked)) == 60
    assert whole.spent
    with Journal(tmp_path / "b.journal") as journal:
        assert answered_from(learner(journal, **given), labels, 33) == asked[:33]
    with Journal(tmp_path / "b.journal") as journal:
        asking = learner(journal, **given)
        assert asking.seen == 33
        assert asking.undo() == asked[32]  # changes the ranking; the answer changes it back
        asking.answer(asked[32:33], [labels[asked[32]]])
        assert asked[:33] + answered_from(asking, labels) == asked
        np.testing.assert_array_equal(asking.model.raw_coefficients, whole.model.raw_coefficients)
        np.testing.assert_array_equal(asking.history().asked, whole.history().asked)


def test_a_pool_may_be_asked_for_completely() -> None:
    chunk, labels = stream(40)
    asking = learner(strategy="margin", budget=40, expected=40, audit=0.3, pool=chunk)
    assert sorted(answered_from(asking, labels)) == list(range(40))
    assert asking.ask_from_pool() is None
    asking = learner(strategy="margin", rate=0.5, pool=chunk)
    assert len(answered_from(asking, labels)) == 40  # without a budget, the pool is the limit
    assert asking.ask_from_pool() is None


def test_a_journal_remembers_its_strategy(tmp_path: Path) -> None:
    for before, after in (("iwal", "margin"), ("random", "iwal")):
        path = tmp_path / f"{before}.journal"
        with Journal(path) as journal:
            learner(journal, strategy=before)
        with (
            Journal(path) as journal,
            pytest.raises(
                ValueError, match=f"started with the strategy '{before}' and cannot continue with '{after}'"
            ),
        ):
            learner(journal, strategy=after)
        with sqlite3.connect(path) as db:
            about = json.loads(db.execute("SELECT about FROM about").fetchone()[0])
        db.close()
        assert about["strategy"] == {"name": before}
        assert about["format"] == (1 if before == "iwal" else 2)  # older versions know iwal only


def test_a_users_own_strategy(tmp_path: Path) -> None:
    chunk, labels = stream(100)

    def begin(journal: Journal, least: float) -> ActiveLearner:
        return ActiveLearner(SETTINGS, FEATURES, BudgetPlan(rate=0.3), None, journal, strategy=Far(least))

    with Journal(tmp_path / "a.journal") as journal:
        asking = answered(begin(journal, 0.2), chunk, labels)
        assert asking.strategy.describe() == {"name": "Far", "least": 0.2}
        assert 20 < asking.asked < 60
    with Journal(tmp_path / "a.journal") as journal, pytest.raises(ValueError, match="another least"):
        begin(journal, 0.3)
    with pytest.raises(ValueError, match="there is no strategy 'Far'"):
        Asker(Settings(scaling="plain"), "Far", 1.0)


def test_a_strategy_without_lanes_is_not_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Margin, "lane_code", None)
    with pytest.raises(ValueError, match="'margin' cannot be simulated side by side"):
        Asker(Settings(scaling="plain"), "margin", 1.0)


@pytest.mark.parametrize("strategy", ["margin", "random"])
def test_c0_is_for_iwal(strategy: str) -> None:
    with pytest.raises(
        ValueError, match=f"c0 is for the strategy 'iwal': give '{strategy}' a budget or a rate"
    ):
        learner(strategy=strategy, c0=0.1)


def test_random_asks_whatever_the_model_thinks() -> None:
    chunk, labels = stream(500)
    asking = answered(learner(strategy="random", rate=0.2), chunk, labels)
    np.testing.assert_array_equal(asking.history().probability, 0.2)
    exact = answered(learner(strategy="random", budget=70, expected=500), chunk, labels)
    history = exact.history()
    asked = np.concatenate([[0], np.cumsum(history.asked)[:-1]])
    np.testing.assert_allclose(history.probability, (70 - asked) / (500 - np.arange(500)))
    assert exact.asked == 70
    audited = answered(learner(strategy="random", rate=0.2, audit=0.05), chunk, labels)
    np.testing.assert_allclose(audited.history().probability, 0.2)
    exact = answered(learner(strategy="random", budget=70, expected=500, audit=0.05), chunk, labels)
    assert exact.asked == 70


def test_equal_probabilities_mean_equal_training_weights() -> None:
    chunk, labels = stream(300)
    weighted, plain = (
        answered(learner(strategy="random", rate=0.2, weights=weights), chunk, labels)
        for weights in ("importance", "none")
    )
    np.testing.assert_array_equal(weighted.model.raw_coefficients, plain.model.raw_coefficients)


def test_selection_sampling_is_even() -> None:
    counts = np.zeros(30)
    chunk, _ = stream(30)
    for seed in range(300):
        asking = learner(strategy="random", budget=10, expected=30, seed=seed)
        for query in asking.consider(chunk):
            counts[query.id] += 1
    assert counts.sum() == 3000
    assert counts.min() > 65
    assert counts.max() < 140


def test_margin_asks_for_the_least_certain_rows_of_a_stream() -> None:
    chunk, labels = stream(1500, noise=0.3)
    asking = answered(learner(strategy="margin", rate=0.1), chunk, labels)
    history = asking.history()
    later = np.arange(1500) > 300
    assert set(np.unique(history.probability[later])) <= {0.0, 1.0} | set(
        history.probability[(history.probability > 0.0) & (history.probability < 1.0)]
    )
    distance = np.abs(history.prediction)
    assert np.median(distance[later & history.asked]) < 0.3 * np.median(distance[later & ~history.asked])
    assert asking.asked == pytest.approx(150, rel=0.1)


def test_margin_does_not_ask_for_every_row_at_the_same_distance() -> None:
    strategy = Margin().start(BudgetPlan(budget=100, expected=10_000))
    for k in range(64, 64 * 20, 64):
        strategy.observe(np.zeros(64), k, 60, question=False)
    share = 40 / (10_000 - 64 * 19)
    np.testing.assert_allclose(strategy.probabilities(np.array([0.0, 0.1]), 64 * 20, 60), [share, 0.0])
    strategy.adjust(1.0, 64)
    np.testing.assert_array_equal(strategy.probabilities(np.array([0.0, 7.0]), 64 * 20, 60), 1.0)


def test_margin_gives_no_estimates_without_an_audit() -> None:
    chunk, labels = stream(300)
    asking = answered(learner(strategy="margin", rate=0.3), chunk, labels)
    evaluation = Evaluation(asking)
    for of in ESTIMANDS:
        with pytest.raises(ValueError, match=r"'margin' leaves nothing to chance.*: give audit=0\.01 or so"):
            evaluation.estimate(of=of)
    with pytest.raises(ValueError, match="leaves nothing to chance"):
        evaluation.judge(ErrorBelow(0.5))
    assert evaluation.judge(Budget(asking.asked))


def test_a_ranked_pool_is_judged_by_its_audit() -> None:
    off = []
    for seed in range(5):
        chunk, labels = stream(1000, seed, noise=1.0)
        asking = learner(strategy="margin", budget=300, expected=1000, audit=0.1, seed=seed, pool=chunk)
        answered_from(asking, labels)
        asked = asking.history().asked
        audited = asking.audit.includes(np.arange(len(asked))) & asked
        assert 60 < audited.sum() <= asking.audit.includes(np.arange(1000)).sum()
        assert len(asking.labelled) == 300 - audited.sum()
        found = Evaluation(asking, 1000).estimate()
        assert (found.rows, found.asked) == (audited.sum(), audited.sum())
        fresh, truth = stream(4000, seed=77, noise=1.0)
        wrong = float(np.mean(np.sign(asking.predict(fresh)) != truth))
        assert found.low <= wrong <= found.high
        off.append(found.value - wrong)
        for of in ("progressive", "pool"):
            with pytest.raises(ValueError, match=f"estimate of='current', not of='{of}'"):
                Evaluation(asking, 1000).estimate(of=of)
    assert abs(np.mean(off)) < 0.06


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("strategy", "audit"),
    [("iwal", 0.0), ("iwal", 0.05), ("margin", 0.05), ("random", 0.0), ("random", 0.05)],
)
def test_the_truth_is_inside_and_not_flattered(strategy: str, audit: float) -> None:
    """Whatever can be estimated covers the truth."""
    off: list[tuple[float, ...]] = []
    fresh, truth = stream(5000, seed=77, noise=1.0)
    for seed in range(6):
        chunk, labels = stream(800, seed, noise=1.0)
        asking = answered(learner(strategy=strategy, rate=0.25, seed=seed, audit=audit), chunk, labels)
        history = asking.history()
        assert history.probability.min() > 0.0
        found = {of: Evaluation(asking).estimate(of=of) for of in ESTIMANDS}
        handed = np.where(history.asked, labels > 0.0, history.prediction > 0.0)
        truths = {
            "progressive": np.mean((history.prediction > 0.0) != (labels > 0.0)),
            "current": np.mean(np.sign(asking.predict(fresh)) != truth),
            "pool": np.mean(handed != (labels > 0.0)),
        }
        for of in ESTIMANDS:
            assert found[of].low <= truths[of] <= found[of].high
        off.append(tuple(found[of].value - truths[of] for of in ESTIMANDS))
    assert np.abs(np.mean(off, axis=0)).max() < 0.08
