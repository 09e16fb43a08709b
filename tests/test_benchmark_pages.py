"""The scripts behind the pages of figures at tiny sizes: they must not rot. No figure is judged here."""

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.metrics import f1_score

from benchmarks import (
    active_defaults,
    active_drift,
    active_speed,
    active_ways,
    auto_rate,
    candidates,
    certificates,
    counts,
    coverage,
    defaults,
    filtering,
    invariance,
    labelled,
    multiclass,
    multiclass_report,
    numeric,
    odd_weights,
    paper_active,
    parsers,
    parsers_exact,
    probabilities,
    rate_flow,
    rates,
    regression,
    sections,
    threads,
    untuned,
)
from benchmarks.labelled import Problem
from benchmarks.sweeps import SCHEDULES
from benchmarks.timing import WALL, Times
from steelyard import OnlineClassifier
from steelyard.examples import examples


@pytest.fixture
def two_classes() -> Problem:
    random = np.random.default_rng(0)
    matrix = random.normal(size=(300, 5)).astype(np.float32)
    return Problem("toy", sparse.csr_matrix(matrix), np.where(matrix @ np.arange(5.0) > 0.0, 1.0, -1.0))


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
    usual = OnlineClassifier().fit([[0.0], [1.0]], [0, 1])
    found = candidates.DEFAULT.classifier().fit([[0.0], [1.0]], [0, 1])
    assert found.learning_rate_ == pytest.approx(usual.learning_rate_)
    assert found.model_.settings.average_power == usual.model_.settings.average_power
    assert found.scaling == usual.scaling


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
    lines = [line for line in page.read_text().splitlines() if line.startswith("| `squared`")]
    assert len(lines) == 2 * (1 + len(invariance.UPDATES))
    assert lines[0].count("< 0.001%") == 3  # rates that follow the flow
    assert lines[1].count("< 0.001%") == 2  # plain and row_norm, where weights are copies
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
    [((0.0123, 0.5), "1.2% / +0.50"), ((12.34, -3.0), "1,234% / -3.00"), ((1e-9, 0.0), "< 0.001%")],
)
def test_cells_of_differences(found: tuple[float, float], shown: str) -> None:
    assert invariance.cell(found) == shown
    assert invariance.cell(None) == "overflows"


def test_page_on_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"POOL": 150, "RELEVANT": 15, "_ERRORS": ((0.1, 0.02), (0.03, 0.02))}.items():
        monkeypatch.setattr(certificates, name, value)
    page = tmp_path / "page.md"
    arguments = ["--runs", "2", "--few", "1", "--output", str(page)]
    CliRunner().invoke(certificates.main, arguments, catch_exceptions=False)
    assert "| error below 0.1, 200 rows |" in page.read_text()
    assert "| 0.95, classes 4.0 apart |" in page.read_text()
    assert "| below 10% | 2.0% |" in page.read_text()


def test_page_on_estimates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(coverage, "_WIDE_ROWS", 100)
    page = tmp_path / "page.md"
    arguments = ["--runs", "2", "--rows", "50", "--models", "2", "--seeds", "1", "--output", str(page)]
    CliRunner().invoke(coverage.main, arguments, catch_exceptions=False)
    assert page.read_text().count("| P by margin, floor 1 % |") == 2
    assert "| rcv1-ccat, 0 |" in page.read_text()
    assert "</svg>" in (tmp_path / coverage.PICTURE).read_text()


def test_page_on_the_labels_of_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(paper_active, "ROWS", 200)
    monkeypatch.setattr(paper_active, "SCHEDULES", SCHEDULES[::40])
    page = tmp_path / "page.md"
    arguments = ["--shuffles", "2", "--set", "rcv1-ccat", "--output", str(page)]
    CliRunner().invoke(paper_active.main, arguments, catch_exceptions=False)
    assert page.read_text().count("| rcv1-ccat, ≤ ") == 4
    assert "- rcv1-ccat: in " in page.read_text()


def test_where_multiplication_needs_less_than_three_times_the_labels() -> None:
    never = float("inf")
    fractions = {"explicit": [0.9, never, never], "implicit": [0.1, 0.2, 0.3], "invariant": [0.5, 0.5, 0.5]}
    figures = paper_active.Figures("a", 0.08, "theory", fractions)
    assert figures.cells[2:] == ["never (0.900 – never)", "0.200 (0.100 – 0.300)", "0.500", "5.0", "2.0"]
    assert paper_active.verdict([figures]).splitlines()[-1] == (
        "- a: in 1 of 2 cases; not with ≤ 8 %, theory, invariant (2.0 times)"
    )


def test_page_on_the_speed_of_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(active_speed, "BUDGET", 20)
    monkeypatch.setattr(active_speed, "SCHEDULES", SCHEDULES[::40])
    page = tmp_path / "page.md"
    CliRunner().invoke(
        active_speed.main, ["--repeats", "1", "--rows", "200", "--output", str(page)], catch_exceptions=False
    )
    text = page.read_text()
    assert text.count("learners, ") == 3
    assert text.count("answer → next question, a pool of 1,000 rows") == 2


def test_page_on_labels_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    monkeypatch.setattr(active_defaults, "SHARES", (0.1,))
    page = tmp_path / "page.md"
    arguments = ["--seeds", "1", "--only", "toy", "--workers", "1", "--output", str(page)]
    CliRunner().invoke(active_defaults.main, arguments, catch_exceptions=False)
    text = page.read_text()
    assert text.count("| toy | 24 |") == text.count("| toy, 20% of labels wrong | 24 |") == 1
    assert text.count("| LinearSVC |") == 5
    assert text.count("| iwal | refit, 1/P |") == 1


def test_what_is_said_of_the_defaults() -> None:
    """From the figures: the worst row, and the distance from margin sampling."""
    cells = [active_defaults.Cell("a", 0.0, 10), active_defaults.Cell("b", 0.2, 1000)]
    random, margin = ("random", "refit"), ("margin", "refit")
    errors = {
        cells[0]: {random: 10.0, margin: 4.0, active_ways.DEFAULT: 4.5},
        cells[1]: {random: 20.0, margin: 23.0, active_ways.DEFAULT: 22.0},
    }
    said = active_defaults.claim(errors)
    assert "**missed**, at worst it has 1.10 times as many (b, 20% of labels wrong, 1,000 labels)" in said
    assert "reached, it is 0.25 points ahead; with right labels 0.50 points behind" in said
    assert said.endswith("with a fifth of them wrong 1.00 points ahead.")


def test_page_on_a_stream_that_drifts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_classes: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda _: two_classes)
    page = tmp_path / "page.md"
    CliRunner().invoke(active_drift.main, ["--seeds", "1", "--output", str(page)], catch_exceptions=False)
    table = [line.split("|")[1].strip() for line in page.read_text().splitlines() if line.startswith("|")]
    assert table[2:] == ["2", "12", "24"]


@pytest.mark.soak
def test_page_on_parsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = "".join(f"{k}, {'red' if k % 3 else '?'}, {'yes' if k % 2 else 'no'}\n" for k in range(1, 40))
    (tmp_path / "cells.gz").write_bytes(gzip.compress(cells.encode()))
    texts = "".join(f'{k % 2}\tword {k}, "quoted"\n' for k in range(40))
    (tmp_path / "texts.xz").write_bytes(lzma.compress(b"label\ttext\n" + texts.encode()))
    files = (
        parsers.RealFile("cells.csv", "cells.gz", "3"),
        parsers.RealFile("texts.tsv", "texts.xz", "label", as_json=True),
    )

    def measure(paths: list[Path], threads: int, repeats: int) -> dict[str, Times]:
        return {path.name: parsers.time_file(path, threads, repeats) for path in paths}

    monkeypatch.setattr(parsers, "FILES", files)
    monkeypatch.setattr(parsers, "measure", measure)
    page = tmp_path / "page.md"
    arguments = ["--data", str(tmp_path), "--repeats", "1", "--megabytes", "0.01", "--numbers", "50"]
    CliRunner().invoke(parsers.main, [*arguments, "--output", str(page)], catch_exceptions=False)
    text = page.read_text()
    for name in ("cells.csv", "texts.tsv", "texts.jsonl", "texts.csv"):
        rows = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
        assert len(rows) == len(parsers.THREADS)
        assert not any("rows, not" in row or "other" in row or "refuses" in row for row in rows)
    assert text.count("how many are wrong (ours: 0)") == 2


def test_parsers_are_timed_in_a_process_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "texts.xz").write_bytes(lzma.compress(b"label\ttext\n1\tone\n0\ttwo words\n"))
    file = parsers.RealFile("texts.tsv", "texts.xz", "label")
    paths = parsers.prepare([file], tmp_path, tmp_path, 0.0)
    times = parsers.measure(paths, threads=1, repeats=1)["texts.tsv"]
    assert {parsers.OURS, parsers.OURS + WALL, parsers.COLUMNS_ONLY} <= set(times)


def test_differences_between_parsers_are_told() -> None:
    rows = parsers_exact.join([])
    assert parsers_exact.difference(rows, rows) == parsers_exact.SAME
    one = examples(np.array([[1.0]]), [1.0])
    assert parsers_exact.difference(one, rows) == "0 rows, not 1"
    for what, other in (
        ("labels", examples(np.array([[1.0]]), [-1.0])),
        ("weights", examples(np.array([[1.0]]), [1.0], [2.0])),
        ("features", examples(np.array([[1.0, 2.0]]), [1.0])),
        ("values", examples(np.array([[np.nextafter(1.0, 2.0)]]), [1.0])),
    ):
        assert parsers_exact.difference(one, other) == f"other {what}"


def test_pyarrow_reads_numbers_alike_and_damaged_quotes_otherwise(tmp_path: Path) -> None:
    outcomes = {probe.what: parsers_exact.outcomes(probe, tmp_path) for probe in parsers_exact.CSV_PROBES}
    assert outcomes["a newline within quotes"]["pyarrow, in batches"] == parsers_exact.SAME
    assert outcomes["text after a closing quote (a bad line)"]["pyarrow, in batches"] == "3 rows, not 2"
    assert set(parsers_exact.wrong_numbers(parsers_exact.CSV, tmp_path, 100).values()) == {"0"}


def test_what_the_flow_of_rates_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Problem
) -> None:
    monkeypatch.setattr(labelled, "load", lambda name: words)
    page = tmp_path / "page.md"
    arguments = ["--set", "words", "--seeds", "1", "--output", str(page)]
    result = CliRunner().invoke(rate_flow.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "## What exactness costs" in page.read_text()
    assert page.read_text().count("| words |") == 1


def test_threads(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    arguments = ["--rows", "50", "--repeats", "1", "--page", str(page)]
    assert CliRunner().invoke(threads.main, arguments, catch_exceptions=False).exit_code == 0
    assert page.read_text().count(" MB/s |") == 3


def test_grouped_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"{k},{'ab'[k % 2]},{k % 2 * k % 3}\n" for k in range(60))
    (tmp_path / "tiny.csv.gz").write_bytes(gzip.compress(f"id,item,click\n{rows}".encode()))
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    monkeypatch.setattr(counts, "SETS", {"tiny": (("tiny.csv.gz",), (1,), 2, "1")})
    page = tmp_path / "page.md"
    arguments = ["--orders", "1", "--page", str(page)]
    assert CliRunner().invoke(counts.main, arguments, catch_exceptions=False).exit_code == 0
    assert "| tiny | 48 | 2 | 48 |" in page.read_text(), "so few are learned one by one"


def test_filtering_beside_fasttext(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fastText, which need not be installed."""
    lines = "".join(f"{k % 2}\tx\t{'cheap pills' if k % 2 else 'a proof'} {k}\n" for k in range(60))
    (tmp_path / "tiny.tsv.xz").write_bytes(lzma.compress(f"label\tdate\ttext\n{lines}".encode()))
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    monkeypatch.setattr(filtering, "SETS", {"tiny": ("tiny.tsv.xz", 0, 2)})
    monkeypatch.setattr(filtering, "find_spec", lambda _: None)
    (row,) = filtering.measure("tiny", 1, 1, 1)
    assert row[:2] == ["tiny, 1", "steelyard"]
    assert row[4] == "100.00%"
