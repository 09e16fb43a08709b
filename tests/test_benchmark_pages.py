"""The scripts behind the pages of figures at tiny sizes: they must not rot. No figure is judged here."""

import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.metrics import f1_score

from benchmarks.quality import (
    auto_rate,
    candidates,
    class_steps,
    defaults,
    invariance,
    multiclass_report,
    odd_weights,
    probabilities,
    rates,
    regression,
    untuned,
)
from benchmarks.speed import weights_cost
from benchmarks.support import labelled, multiclass, numeric, sections
from benchmarks.support.labelled import Problem
from steelyard import OnlineClassifier
from steelyard.settings import SCALINGS


@pytest.fixture
def words() -> Problem:
    """Counts of words; the first one makes the class, which is rare."""
    random = np.random.default_rng(0)
    counts = random.poisson(0.3, size=(300, 20)).astype(np.float32)
    counts[:, 0] = random.random(300) < 0.1
    counts[:, 1] = 1.0
    return Problem("words", sparse.csr_matrix(counts), np.where(counts[:, 0] > 0.0, 1.0, -1.0), text=True)


def test_a_section_is_put_in_its_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nBy hand.\n")
    sections.write(page, "one", "first\n")
    sections.write(page, "two", "second")
    sections.write(page, "one", "third")
    assert page.read_text().split("\n\n") == [
        "# Title", "By hand.",
        "<!-- written by one -->", "third", "<!-- end of one -->",
        "<!-- written by two -->", "second", "<!-- end of two -->\n",
    ]  # fmt: skip
    sections.write(tmp_path / "new.md", "one", "alone")
    assert (tmp_path / "new.md").read_text().startswith("<!-- written by one -->\n\nalone")


def test_generated_targets_differ_in_units_only() -> None:
    plain, scaled, moved = (
        numeric.load(name) for name in ("linear", "linear, × 1,000,000", "linear, + 10,000")
    )
    np.testing.assert_allclose(scaled.labels, 1e6 * plain.labels)
    np.testing.assert_allclose(moved.labels, plain.labels + 1e4)
    assert (scaled.matrix != plain.matrix).nnz == 0


def test_defaults_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem, words: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", {"toy": two_classes, "words": words}.__getitem__)
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--only", "toy", "--only", "words", "--output", str(page)]
    CliRunner().invoke(defaults.main, arguments, catch_exceptions=False)
    text = page.read_text()
    assert text.count("| words |") == text.count("| toy |") == 3  # accuracy, F1, chosen without the set
    installed = set(untuned.contenders(words))
    (head,) = {line for line in text.splitlines() if line.startswith("| data set | steelyard |")}
    assert installed <= {cell.strip() for cell in head.split("|")}
    for line in text.splitlines():
        if line.startswith("| toy |"):
            assert line.count("| – ") in (0, len(installed & set(untuned.OF_TEXTS)))
    assert f"- {untuned.SVC}, against *{untuned.FROM_TEXT}*: " in text
    assert f"| **{candidates.DEFAULT.name}** |" in text


def test_candidates_have_the_default_among_them() -> None:
    assert candidates.DEFAULT in candidates.CANDIDATES
    usual = OnlineClassifier().fit([[0.0], [1.0]], [0, 1]).model_.settings
    found = candidates.DEFAULT.settings()
    assert replace(found, learning_rate=None, average=None, follow_labels=False) == usual
    assert (found.rate, found.average_power) == (usual.rate, usual.average_power)


def test_steps_with_and_without_classes(words: Problem) -> None:
    found = class_steps.measure(words, 1)
    assert found.shape == (2, 2)
    cells = class_steps.row("words", [found, found[::-1]])
    assert cells[:2] == ["words", "2"]
    assert cells[2] == cells[3] == f"{found[:, 0].mean():.2f}"
    assert cells[-1] == f"{int(found[0, 1] != found[1, 1])} of 2"


def test_scores_are_those_of_the_rarer_class(words: Problem) -> None:
    test = np.arange(300)
    truth = words.labels
    assert candidates.scores(words, test, truth) == (1.0, 1.0)
    accuracy, f1 = candidates.scores(words, test, -np.ones(300))
    assert (accuracy, f1) == pytest.approx((np.mean(truth < 0.0), 0.0))
    said = np.where(np.arange(300) < 150, truth, -truth)
    expected = f1_score(truth > 0.0, said > 0.0)
    assert candidates.scores(words, test, said)[1] == pytest.approx(expected)


def test_what_is_chosen_without_a_set() -> None:
    best = np.zeros((len(candidates.CANDIDATES), 2))
    best[0] = 90.0
    other = best[::-1].copy()
    other[0], other[-1] = 50.0, 51.0
    shown = candidates.text({"a": best, "b": other, "c": best})
    (row,) = [line for line in shown.splitlines() if line.startswith("| b |")]
    assert row.split("|")[2].strip() == "normalized"
    assert row.split("|")[-2].strip() == "-50.00"  # the default has 0 here
    assert candidates.text({"a": best}) == ""


def test_each_occurrence_of_a_word_is_written(words: Problem) -> None:
    counts = sparse.csr_matrix(np.array([[2.0, 0.0, 1.0]], np.float32))
    problem = Problem("one", counts, np.array([1.0]), text=True)
    assert untuned.VowpalWabbitByWords(problem).lines == [b"1 | 0 0 2\n"]
    assert untuned.VowpalWabbit(problem).lines == [b"1 | 0:2 2:1\n"]


def test_words_relative_to_the_text_find_the_class(words: Problem) -> None:
    train, test = words.split(0)
    for contender in (untuned.log_counts, untuned.from_text):
        found = contender(words)(train, test, 0)
        assert np.mean((found > 0.0) == (words.labels[test] > 0.0)) > 0.9


def test_regression_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numeric, "ROWS", 200)
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--only", "linear", "--only", "friedman 1", "--output", str(page)]
    result = CliRunner().invoke(regression.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "| linear |" in page.read_text()
    assert f"- {regression.RIDGE}: " in page.read_text()


def test_cells_of_hopeless_scores_are_short() -> None:
    assert [regression.cell(score) for score in (0.98765, -1.5, -5867.0)] == ["0.988", "-1.500", "-6e+03"]


def test_rates_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem) -> None:
    monkeypatch.setattr(numeric, "ROWS", 200)
    monkeypatch.setattr(labelled, "names", lambda: ["toy"])
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(rates, "RATES", (0.1, 0.5))
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--only", "toy", "--only", "linear", "--output", str(page)]
    arguments += ["--loss", "quantile", "--loss", "logistic"]
    CliRunner().invoke(rates.main, arguments, catch_exceptions=False)
    rows = [line.split("|")[1].strip() for line in page.read_text().splitlines() if line.startswith("| `")]
    assert rows == ["`logistic`, classes", "`quantile`, classes", "`quantile`, numbers"]


def test_probabilities_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem) -> None:
    monkeypatch.setattr(labelled, "load", lambda name: two_classes)
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--only", "sms-spam", "--output", str(page)]
    result = CliRunner().invoke(probabilities.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "| sms-spam | 0." in page.read_text()
    assert "## Where it is worse" in page.read_text()


def test_topics_and_measures_of_probabilities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    for part, text in (("train", "grain,corn\tWheat is up\n\tNothing\n"), ("test", "ship\tA ship\n")):
        with lzma.open(tmp_path / f"reuters21578-{part}.tsv.xz", "wt") as file:
            file.write("topics\ttext\n" + text)
    problem = probabilities.load("reuters, grain")
    assert problem.labels.tolist() == [1.0, -1.0, -1.0]
    assert problem.own_test == 1
    assert "reuters, grain" in probabilities.names()
    chances, positive = np.array([0.0, 1.0, 0.5, 0.5]), np.array([True, True, True, False])
    assert probabilities.log_loss(chances[1:], positive[1:]) == pytest.approx(2.0 / 3.0 * np.log(2.0))
    assert np.isfinite(probabilities.log_loss(chances, positive))
    assert probabilities.calibration_error(chances, positive) == pytest.approx(0.25)


def test_page_of_odd_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem) -> None:
    monkeypatch.setattr(labelled, "load", lambda name: two_classes)
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--output", str(page)]
    for name in ("Pareto", "sum 1"):
        arguments += ["--only", f"sms-spam, {name}"]
    result = CliRunner().invoke(odd_weights.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "| sms-spam, sum 1 | 0." in page.read_text()
    assert f"- {odd_weights.SGD}: " in page.read_text()
    assert len(odd_weights.cases()) == 6
    assert 1.0 <= odd_weights.pareto(1000).min() < odd_weights.pareto(1000).max() <= odd_weights.LARGEST


def test_where_an_online_peer_is_better() -> None:
    row = {odd_weights.STEELYARD: np.array([[0.5, 0.8]]), odd_weights.SGD: np.array([[0.4, 0.9]])}
    said = odd_weights.verdicts({"toy": row})
    assert "- SGDClassifier: toy (log loss -0.1000), toy (area +0.1000 ± 0.0000)." in said
    assert "- Vowpal Wabbit, default: nowhere." in said
    assert odd_weights.cell(np.array([[np.nan, 0.5]])) == "– (0.5000)"


def test_invariance_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    page = tmp_path / "page.md"
    arguments = ["--rows", "100", "--loss", "squared", "--output", str(page)]
    CliRunner().invoke(invariance.main, arguments, catch_exceptions=False)
    lines = [line for line in page.read_text().splitlines() if "`squared`" in line]
    assert len(lines) == len(invariance.WAYS)
    assert lines[0].count("exact") == len(SCALINGS)  # the invariant update in float64
    assert "exact" not in lines[-1]
    assert "overflows" in "".join(lines)


def test_several_classes_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--only", "iris", "--output", str(page)]
    CliRunner().invoke(multiclass_report.main, arguments, catch_exceptions=False)
    (row,) = [line for line in page.read_text().splitlines() if line.startswith("| iris |")]
    assert row.count("(× ") == len(multiclass_report.CONTENDERS)


def test_auto_rate_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem) -> None:
    monkeypatch.setattr(numeric, "ROWS", 200)
    monkeypatch.setattr(labelled, "names", lambda: ["toy"])
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--output", str(page)]
    for name in ("toy", "linear", "iris"):
        arguments += ["--only", name]
    CliRunner().invoke(auto_rate.main, arguments, catch_exceptions=False)
    text = page.read_text()
    assert [text.count(f"| {name} |") for name in ("toy", "linear", "iris")] == [1, 1, 1]
    assert text.count("- within 0.3 of the best in hindsight: ") == 3


def test_where_auto_is_not_near_enough() -> None:
    near, far = (
        auto_rate.Figures(90.0, 91.0, 91.1, 91.2, 90.0, 5.0),
        auto_rate.Figures(90.0, 89.0, 89.1, 91.0, 90.0, 5.0),
    )
    assert auto_rate.verdict({"a": near, "b": far}).splitlines() == [
        "- within 0.3 of the grid's own choice by progressive loss: 2 of 2",
        "- within 0.3 of the best in hindsight: 1 of 2; not on b (2.00)",
        "- no more than 0.3 behind the default: 1 of 2; not on b (1.00)",
    ]


@pytest.mark.parametrize("name", ["digits, all ten", "iris", "wine"])
def test_sets_of_several_classes(name: str) -> None:
    problem = multiclass.load(name)
    assert sorted(set(problem.labels)) == list(range(int(problem.labels.max()) + 1))
    assert len(problem.labels) == problem.matrix.shape[0]


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ((0.0123, 0.5), "1.2% / +0.50"),
        ((12.34, -3.0), "1,234% / -3.00"),
        ((1.2e-4, 0.0), "0.012% / +0.00"),
        ((1e-9, 0.0), "exact"),
    ],
)
def test_cells_of_differences(found: tuple[float, float], shown: str) -> None:
    assert invariance.cell(found, 1e-5) == shown
    assert invariance.cell(None, 1e-5) == "overflows"


def test_what_weights_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Problem) -> None:
    monkeypatch.setattr(labelled, "load", lambda name: words)
    page = tmp_path / "page.md"
    arguments = ["--rounds", "2", "--rows", "200", "--set", "rcv1-ccat", "--set", "generated"]
    result = CliRunner().invoke(
        weights_cost.main, [*arguments, "--output", str(page)], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert page.read_text().count("| `logistic` |") == 2
    drawn = {kind: rows.sample_weight for kind, rows in weights_cost.load("rcv1-ccat", 200).items()}
    assert set(drawn[weights_cost.ONE]) == {1.0}
    assert 0.0 <= drawn[weights_cost.FRACTIONS].min() < drawn[weights_cost.FRACTIONS].max() < 2.0
    assert set(drawn[weights_cost.TEN]) == set(range(1, 20))


def test_targets_of_weights() -> None:
    times = {weights_cost.ONE: [1.0, 2.0, 1.0], weights_cost.TEN: [3.0, 7.0, 5.0]}
    found = weights_cost.quartiles(times, weights_cost.TEN)
    assert found == (3.5, 3.25, 4.25)
    assert weights_cost.cell(found) == "3.50 (3.25–4.25)"
    assert weights_cost.verdicts("modified_huber", {weights_cost.TEN: found}) == [
        ("mean 10", "3.50, target ≤ 3")
    ]
    assert weights_cost.verdicts("logistic", {weights_cost.TEN: found}) == []
    assert weights_cost.verdicts("hinge", {weights_cost.TEN: found}) == []
