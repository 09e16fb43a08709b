"""The benchmark's pieces at tiny sizes, so that the scripts cannot rot. No figure is judged here."""

import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.speed import converted, cpp_loop, memory, peers, run, startup, tables, text_columns, vowpal
from benchmarks.support import datasets
from benchmarks.support.generate import DataSet, generate
from benchmarks.support.timing import WALL, Contender, Row, Table, Target, alternate, clocked, ratio
from steelyard import losses
from steelyard.examples import examples
from steelyard.learner import Learner
from steelyard.settings import Settings


@pytest.fixture(scope="module")
def data() -> DataSet:
    return generate(rows=300, features=500, per_row=20)


def progressive_loss(data: DataSet, loss: str, rate: float) -> float:
    settings = Settings(loss=losses.by_name(loss), scaling="plain", learning_rate=rate)
    learner = Learner(settings, data.rows.shape[1])
    learner.learn(examples(data.rows, data.labels))
    return learner.model.progressive_loss


def test_generated_rows_are_as_promised(data: DataSet) -> None:
    again = generate(rows=300, features=500, per_row=20)
    assert (data.rows != again.rows).nnz == 0
    np.testing.assert_array_equal(data.labels, again.labels)
    assert data.rows.dtype == np.float32
    assert data.rows.indices.dtype == np.int32
    for start, end in zip(data.rows.indptr[:-1], data.rows.indptr[1:], strict=True):
        assert end > start
        assert np.all(np.diff(data.rows.indices[start:end]) > 0)
        assert np.linalg.norm(data.rows.data[start:end]) == pytest.approx(1.0, rel=1e-5)
    assert 10 < data.entries / 300 < 25
    assert set(data.labels) == {-1.0, 1.0}


def test_turns_and_ratios() -> None:
    order: list[str] = []

    def contender(name: str, seconds: float) -> Contender:
        def once() -> dict[str, float]:
            order.append(name)
            return {name: seconds}

        return once

    times = alternate([contender("a", 1.0), contender("b", 3.0)], repeats=2)
    assert order == ["a", "b", "a", "b", "b", "a"]
    assert times == {"a": [1.0, 1.0], "b": [3.0, 3.0]}
    assert ratio(times, "a", "b") == 3.0
    assert set(clocked("c", lambda: None)()) == {"c", "c" + WALL}


@pytest.mark.parametrize(
    ("target", "figure", "verdict"),
    [
        (Target(1.2), 1.2, "reached"),
        (Target(1.2), 1.19, "missed"),
        (Target(1.2, at_least=False), 1.21, "missed"),
        (None, 1.0, ""),
    ],
)
def test_a_row_says_whether_its_target_was_reached(
    target: Target | None, figure: float, verdict: str
) -> None:
    assert Row("what", "against", "", "", figure, target).verdict == verdict


@pytest.mark.parametrize("build", cpp_loop.names())
@pytest.mark.skipif(cpp_loop.compiler() is None, reason="there is no C++ compiler")
def test_the_cpp_loop_learns_what_the_explicit_update_learns(data: DataSet, build: str) -> None:
    for loss in tables.LOSSES:
        settings = Settings(losses.by_name(loss), "explicit", "plain", learning_rate=0.1)
        learner = Learner(settings, data.rows.shape[1])
        predictions = learner.learn(examples(data.rows, data.labels))
        _, theirs = cpp_loop.learn(data, loss, 0.1, build)
        np.testing.assert_allclose(theirs, predictions, atol=1e-4)


def test_scikit_learn_is_timed_inside_and_outside(data: DataSet) -> None:
    for loss in tables.LOSSES:
        times = peers.sgd(data, loss, 0.5)()
        assert 0.0 < times[peers.INSIDE] < times[peers.FIT]


@pytest.mark.skipif(not vowpal.installed(), reason="vowpalwabbit is not installed")
@pytest.mark.parametrize(("loss", "half"), [("squared", 0.5), ("logistic", 1.0)])
def test_vowpal_wabbit_learns_what_we_learn(data: DataSet, loss: str, half: float, tmp_path: Path) -> None:
    theirs = half * vowpal.average_loss(vowpal.write_text(data, tmp_path / "rows.vw"), loss, 0.5)
    assert theirs == pytest.approx(progressive_loss(data, loss, 0.5), rel=1e-4)


def test_tables(data: DataSet) -> None:
    made = [
        *tables.kernels_and_fits(data, repeats=1),
        tables.scalings(data, repeats=1),
        tables.outsiders(data, repeats=1, rows=200, few_rows=50),
        memory.table(data),
    ]
    assert [table.title[:3] for table in made] == ["(a)", "(b)", "(c)", "(d)", "(f)"]
    assert all(np.isfinite(row.figure) for table in made for row in table.rows)
    assert {row.what for row in made[1].rows} == {"squared, fit", "logistic, fit"}


def test_peers_that_are_absent_are_named(data: DataSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vowpal, "installed", lambda: False)
    monkeypatch.setattr(peers, "river", lambda *_: None)
    monkeypatch.setattr(cpp_loop, "compiler", lambda: None)
    table = tables.outsiders(data, repeats=1, rows=10, few_rows=10)
    assert table.rows == []
    assert [note.split(" is not installed")[0] for note in table.notes[:2]] == ["Vowpal Wabbit", "river"]
    assert "no C++ compiler" in tables.kernels_and_fits(data, repeats=1)[0].notes[0]


def test_a_copy_of_the_rows_would_show() -> None:
    assert memory.peak(lambda: np.zeros(1_000_000)) == pytest.approx(8_000_000, rel=0.01)
    assert memory.peak(lambda: None) < 100_000


def test_the_converted_file_against_memory(data: DataSet, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    table = converted.table(data, repeats=1, folder=tmp_path)
    assert len(table.rows) == 8
    assert all(np.isfinite(row.figure) for row in table.rows)


def test_start_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In this environment, where the package is already."""
    monkeypatch.setattr(startup, "install", lambda _: Path(sys.executable).parent)
    monkeypatch.setattr(startup, "COMMANDS", startup.COMMANDS[:1])
    page = tmp_path / "page.md"
    result = CliRunner().invoke(
        startup.main, ["--repeats", "1", "--output", str(page)], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert "| steelyard --help |" in page.read_text()
    assert "beyond scikit-learn's import" in page.read_text()
    startup.write_inputs(tmp_path)
    assert (tmp_path / "texts.csv").read_text().count("\n") == 101
    exec(compile(startup.FIT, "script", "exec"), {})


def test_a_command_that_fails_is_not_timed(tmp_path: Path) -> None:
    bad = startup.Command("bad", ("-c", "no_such_name"))
    with pytest.raises(RuntimeError, match="no_such_name"):
        startup.process(bad, Path(sys.executable), tmp_path)()


def test_without_data_the_real_set_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STEELYARD_DATA", raising=False)
    assert datasets.rcv1() is None
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    assert datasets.rcv1() is None


def test_the_entry_writes_its_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(startup, "table", lambda _: Table("(e)", "seconds", []))
    monkeypatch.delenv("STEELYARD_DATA", raising=False)
    output = tmp_path / "results" / "figures.json"
    arguments = ["--rows", "200", "--repeats", "1", "-o", "e", "-o", "c", "--output", str(output)]
    arguments += ["--markdown", str(tmp_path / "tables.md")]
    result = CliRunner().invoke(run.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "left out" in result.output
    assert "| squared, adaptive | plain |" in (tmp_path / "tables.md").read_text()
    kept = json.loads(output.read_text())
    assert [table["title"] for table in kept["tables"]] == ["(e)", "(c) scalings against plain: generated"]
    assert kept["about"]["packages"]["steelyard"]


def test_a_text_column_is_learned_by_both(tmp_path: Path) -> None:
    texts = tmp_path / "texts.tsv.xz"
    rows = "".join(
        f'{label}\t"{word}, number {k}\n' for k in range(20) for label, word in ((1, "buy"), (-1, "hi"))
    )
    texts.write_bytes(lzma.compress(("label\ttext\n" + rows).encode()))
    table = tmp_path / "texts.csv"
    text_columns.write(texts, table, 0.01)
    assert table.stat().st_size >= 10_000
    assert text_columns.ours(table) < 0.45
    assert text_columns.theirs(table).coef_.shape == (1, 1 << text_columns.BITS)
    times = text_columns.compare(table, repeats=1)
    assert set(times) == {
        text_columns.OURS, text_columns.THEIRS, text_columns.OURS + WALL, text_columns.THEIRS + WALL,
    }  # fmt: skip
