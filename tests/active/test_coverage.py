"""Intervals cover the truth at *all* times, whatever nature and the asking do; fixed-size ones do not."""

import numpy as np
import pytest

from benchmarks.active import estimates_accuracy, estimates_coverage, estimates_refit
from benchmarks.active.simulated import NATURES, TRUTHS, Streams, always_inside, naive, streams
from benchmarks.support import labelled
from steelyard.active.estimates import RunningEstimate
from steelyard.active.label_sample import from_labels
from steelyard.active.stopping import ErrorBelow, RecallAbove
from tests.support.vw_text import data_file

CASES = [(of, measure) for of in ("progressive", "pool") for measure in ("error", "precision", "recall")]


def covered(sample: Streams, of: str, measure: str, guessed: bool) -> float:
    """The share of runs in which the truth was never outside; of two truths, whichever fares worse."""
    runs = range(len(sample.asked))
    paths = [RunningEstimate(of, measure).path(sample.draws(run, guessed)) for run in runs]
    return min(
        float(np.mean([always_inside(paths[run], sample.truth(truth, measure, run)) for run in runs]))
        for truth in TRUTHS[of]
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("nature", NATURES)
def test_the_truth_is_never_outside(nature: str) -> None:
    sample = streams(NATURES[nature], runs=40, rows=400, seed=0)
    for number, case in enumerate(CASES):
        assert covered(sample, *case, guessed=number % 2 == 0) >= 0.95


@pytest.mark.soak
@pytest.mark.parametrize("guessed", [False, True])
@pytest.mark.parametrize(("of", "measure"), CASES)
@pytest.mark.parametrize("nature", NATURES)
def test_the_truth_is_never_outside_in_many_runs(nature: str, of: str, measure: str, guessed: bool) -> None:
    assert covered(streams(NATURES[nature], runs=1000, rows=1000, seed=1), of, measure, guessed) >= 0.95


@pytest.mark.soak
def test_the_model_held_now_is_covered_in_many_runs() -> None:
    runs = [estimates_refit.looks(seed) for seed in range(1000)]
    inside = [all(each.crossed.low <= each.truth <= each.crossed.high for each in run) for run in runs]
    assert np.mean(inside) >= 0.95


@pytest.mark.parametrize("of", ["progressive", "pool"])
def test_those_who_skip_what_is_inconvenient_do_not_get_past_the_bounds(of: str) -> None:
    """A third of the errors, and nothing else, is never answered."""
    for run in range(40):
        sample = streams(NATURES["drift, any P"], runs=1, rows=400, seed=run)
        random = np.random.default_rng(run)
        wrong = (sample.label[0] == 1.0) != sample.predicted[0]
        silent = wrong & (random.random(400) < 1.0 / 3.0)
        answers = np.where(silent, np.nan, sample.label[0])
        draws = from_labels(sample.probability[0], sample.asked[0], answers, sample.predicted[0])
        path = RunningEstimate(of).path(draws)
        open_rows = ~sample.asked[0] | silent if of == "pool" else np.ones(400, bool)
        truth = np.cumsum(wrong & open_rows) / np.arange(1.0, 401.0)
        assert always_inside(path, truth)


def test_an_interval_of_fixed_size_fails_those_who_peek() -> None:
    for nature in ("P = 1", "drift, any P", "P chosen by an adversary"):
        sample = streams(NATURES[nature], runs=200, rows=1000, seed=2)
        paths = [naive(sample.draws(run)) for run in range(200)]
        truths = [sample.truth("risk", "error", run) for run in range(200)]
        ends = [p.low[-1] <= t[-1] <= p.high[-1] for p, t in zip(paths, truths, strict=True)]
        assert np.mean(ends) > 0.88  # what it promises
        assert np.mean([always_inside(p, t) for p, t in zip(paths, truths, strict=True)]) < 0.7


def test_stopping_at_a_target_is_legitimate() -> None:
    """The error is 0.1. A rule with the target 0.095 is asked after every row: it should not stop."""
    sample = streams(NATURES["P = 1"], runs=100, rows=1000, seed=3)
    honestly = naively = 0
    for run in range(100):
        draws = sample.draws(run)
        honestly += bool((RunningEstimate("progressive").path(draws).high <= 0.095).any())
        naively += bool((naive(draws).high <= 0.095).any())
    assert honestly <= 5
    assert naively > 10


@pytest.mark.no_cover
@pytest.mark.parametrize("blind", [False, True])
def test_the_model_held_now_is_covered_at_every_look(blind: bool) -> None:
    runs = [estimates_refit.looks(seed, blind) for seed in range(6)]
    assert all(each.crossed.low <= each.truth <= each.crossed.high for run in runs for each in run)
    assert all(each.audit.low <= each.whole <= each.audit.high for run in runs for each in run)
    last = [run[-1] for run in runs]
    honestly = np.mean([each.crossed.value - each.truth for each in last])
    flattered = np.mean([each.own_labels - each.whole for each in last])
    assert abs(honestly) < 0.02
    assert flattered < -0.02


@pytest.mark.no_cover
@pytest.mark.parametrize("audit", [0.0, estimates_accuracy.AUDIT])
def test_what_the_product_says_of_itself_is_covered_at_every_look(audit: float) -> None:
    runs = [estimates_accuracy.looks(seed, audit) for seed in range(4)]
    for each in (look for run in runs for look in run):
        assert each.current.low <= each.truth <= each.current.high
        assert each.progressive.low <= each.record <= each.progressive.high
    assert np.mean([abs(run[0].own_labels - run[0].truth) for run in runs]) > 0.1  # what it must not be told


@pytest.mark.no_cover
def test_real_text_scored_honestly_and_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_DATA", str(data_file("rcv1-ccat.svm.xz").parent))
    found = estimates_coverage.trial(labelled.load("rcv1-ccat"), seed=0)
    assert 500 < found.asked < 2000
    assert found.own_weighted < 0.01  # on the labels it learned from, it is perfect
    assert 0.08 < found.test < 0.13
    assert found.lanes_test == pytest.approx(found.test, abs=0.01)
    assert found.crossed.value == pytest.approx(found.lanes_test, abs=0.03)
    assert found.crossed.low < found.lanes_test < found.crossed.high
    assert found.audit.low < found.test < found.audit.high
    assert not ErrorBelow(0.1).judge([found.crossed]).met
    assert ErrorBelow(0.3).judge([found.crossed]).met


def test_a_review_stops_when_enough_is_found() -> None:
    """Documents are read, the likeliest first, until recall is surely high enough: then it truly is."""
    rule = RecallAbove(0.8)
    for seed in range(10):
        random = np.random.default_rng(seed)
        score = random.beta(0.2, 2.0, 8000)
        order = np.argsort(-score)  # the likeliest first
        relevant = (random.random(8000) < score)[order]
        running = RunningEstimate("pool", "recall", size=8000)
        probability = np.where(np.arange(8000) < 3000, 0.999, 0.3)
        asked = random.random(8000) < probability
        for start in range(0, 8000, 100):
            part = slice(start, start + 100)
            running.add(from_labels(probability[part], asked[part], relevant[part]))
            if rule.judge([running.estimate()]).met:
                break
        found = (relevant & asked)[: start + 100].sum()
        assert rule.judge([running.estimate()]).met
        assert found / relevant.sum() >= 0.8
