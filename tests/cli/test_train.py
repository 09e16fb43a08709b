"""`train`: the same numbers as an independent system and as a slow computation; what it says and keeps."""

import gzip
import json
import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from steelyard import losses
from steelyard.model import Settings
from tests.cli.running import PLAIN, refused, rows, run, stored, trained, without_record
from tests.support.naive import NaiveLearner
from tests.support.vw_text import data_file, read

# Vowpal Wabbit 9.11.9; its squared loss has no ½, so its rate is half of ours and its loss twice ours
REFERENCES = [
    ("rcv1_small.dat", ("logistic",), 0.5, 0.600679),
    ("rcv1_small.dat", ("hinge",), 0.5, 0.675410),
    ("rcv1_small.dat", ("squared",), 1.0, 0.717309 / 2),
    ("0002.dat", ("quantile", "--tau", "0.25"), 0.05, 0.018635),
    ("0002.dat", ("squared",), 0.1, 0.004314 / 2),
]


@pytest.mark.parametrize(("name", "loss", "rate", "expected"), REFERENCES)
def test_the_same_numbers_as_vowpal_wabbit(
    name: str, loss: tuple[str, ...], rate: float, expected: float
) -> None:
    path = data_file(f"vw/{name}")
    found = trained(path, "--loss", *loss, "--scaling", "plain", "--learning-rate", rate)
    assert found["progressive_loss"] == pytest.approx(expected, abs=2e-6)
    assert found["examples"] == found["learned"] == found["weight"] == 1000


@pytest.mark.no_cover
@pytest.mark.parametrize("scaling", ["plain", "row_norm", "normalized"])
def test_weights_against_a_slow_learner(tmp_path: Path, scaling: str) -> None:
    draw = random.Random(1)
    path = tmp_path / "weighted.vw.gz"
    lines = data_file("vw/0002.dat").read_text().splitlines()
    heavy = []
    for line in lines:
        label, _, rest = line.split(" ", 2)
        heavy.append(f"{label} {draw.choice([0, 0.1, 1, 2.5, 40])} {rest}")
    path.write_bytes(gzip.compress("\n".join(heavy).encode()))
    naive = NaiveLearner(Settings(learning_rate=0.1, scaling=scaling), 300)
    naive.learn(*read(path))
    found = trained(
        path, "--format", "vw", "--loss", "squared", "--scaling", scaling, "--learning-rate", 0.1,
        "--dtype", "float64",
    )  # fmt: skip
    assert found["progressive_loss"] == pytest.approx(naive.progressive_loss, rel=1e-7)
    assert found["weight"] == pytest.approx(naive.weight)


def test_json(file: Path, tmp_path: Path) -> None:
    found = trained(file, "-o", tmp_path / "m", "--bits", 10)
    assert set(found) == {
        "examples", "learned", "unlabelled", "weight", "progressive_loss", "progressive_error",
        "resumed", "run_weight", "run_progressive_loss",
        "best_constant", "best_constant_loss",
        "held_out", "held_out_loss", "held_out_error", "classes", "learning_rate", "power_t", "auto",
        "calibrated", "class_steps",
        "passes", "best_pass", "effective_sample_size", "weight_warning", "nonzero_weights", "names",
        "names_sharing_an_index", "skipped", "problems", "remarks", "seconds", "startup_seconds",
        "rows_per_second", "megabytes_per_second", "model",
    }  # fmt: skip
    weights = [float(line.split()[1]) for line in file.read_text().splitlines()]
    assert found["examples"] == 200
    assert found["learned"] == sum(weight > 0 for weight in weights)
    assert found["weight"] == found["run_weight"] == sum(weights)
    assert found["progressive_loss"] == found["run_progressive_loss"]
    assert not found["resumed"]
    assert found["names"] == 24
    assert found["model"] == str(tmp_path / "m")
    assert found["rows_per_second"] * found["seconds"] == pytest.approx(200)
    assert found["megabytes_per_second"] * found["seconds"] == pytest.approx(file.stat().st_size / 1e6)
    assert found["startup_seconds"] > 0.0
    assert found["effective_sample_size"] == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert (found["held_out_loss"], found["weight_warning"], found["passes"]) == (None, None, 1)


def test_the_table(file: Path) -> None:
    """Lines at 1, 2, 4, … examples, computed slowly."""
    naive = NaiveLearner(Settings(loss=losses.by_name("logistic"), scaling="plain", learning_rate=0.5), 300)
    matrix, labels, sample_weight = read(file)
    expected, last, due = [], (0.0, 0.0), 1
    for k in range(len(labels)):
        (prediction,) = naive.learn(matrix[[k]], labels[k : k + 1], sample_weight[k : k + 1])
        if k + 1 == due:
            due *= 2
            since = naive.weight - last[1]
            average = naive.loss / naive.weight if naive.weight else 0.0
            lately = (naive.loss - last[0]) / since if since else 0.0
            numbers = len(set(matrix[[k]].indices))
            expected.append([average, lately, k + 1, round(naive.weight, 1), labels[k], prediction, numbers])
            last = naive.loss, naive.weight
    printed = run("train", file, "--loss", "logistic", *PLAIN).stdout.splitlines()
    start = next(k for k, line in enumerate(printed) if line.split()[:3] == ["loss", "last", "counter"]) + 1
    for line, wanted in zip(printed[start : start + len(expected)], expected, strict=True):
        assert [float(word) for word in line.split()] == pytest.approx(wanted, abs=6e-5)
    assert printed[start + len(expected)] == ""


def test_what_is_said(file: Path) -> None:
    said = run("train", file).stdout
    assert said.startswith(
        "format: vw (detected)\n"
        "loss: modified_huber (by the labels; change with --loss)\n"
        "update: invariant, scaling: standardized, learning rate: 0.4\n\n"
    )
    assert "effective sample size" in said
    assert said.rstrip().endswith("not saved; -o MODEL saves it")
    said = run("train", file, "--format", "vw", "--loss", "logarithmic", "--labels=-1,1").stdout
    assert said.startswith("format: vw\nlabels: -1 is 0, 1 is 1\nloss: logarithmic\n")


def test_guessed_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("0 1:1\n1 2:1\n" * 5)
    said = run("train", path).stdout
    assert "labels: 0 is -1, 1 is 1 (detected; change with --labels)\n" in said
    path.write_text("1 1:1\n2 2:1\n3 3:1\n")
    assert "loss: squared (by the labels" in run("train", path).stdout


def test_lines_are_skipped_on_request(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text(rows(5) + "x |a\n" * 6 + "7 |a b\n" + rows(5))
    assert "line 6: the label 'x' is not a number\n(--on-error skip" in refused("train", path)
    found = trained(path, "--on-error", "skip", "--labels=-1,1")
    assert (found["examples"], found["skipped"], len(found["problems"])) == (10, 7, 7)
    said = run("train", path, "--on-error", "skip", "--labels=-1,1").stdout
    assert "skipped 7 lines that could not be read, such as\n" in said
    assert said.count("is not a number") == 3


def test_remarks_and_warnings(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    assert "note: qid is ignored" in run("train", path).stdout
    heavy = tmp_path / "heavy.vw"
    heavy.write_text("1 |a b\n" * 120 + "-1 10000 |a c\n")
    assert "note: a handful of rows dominates" in run("train", heavy).stdout
    assert "row 120" in trained(heavy)["weight_warning"]


def test_names_that_share_an_index(file: Path) -> None:
    assert trained(file, "--bits", 2)["names_sharing_an_index"] > 0.5
    assert "more --bits would separate them" in run("train", file, "--bits", 2).stdout
    assert trained(file, "--no-names")["names"] is None


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(file: Path, tmp_path: Path, packed: bool) -> None:
    text = file.read_bytes()
    models = [tmp_path / "a", tmp_path / "b"]
    trained(file, "-o", models[0])
    found = trained("-", "-o", models[1], stdin=gzip.compress(text) if packed else text)
    assert found["examples"] == 200
    assert without_record(models[0]) == without_record(models[1])
    assert "standard input can be read only once" in refused("train", "-", "--passes", 2, stdin=text)


def test_a_file_and_standard_input(file: Path) -> None:
    assert trained(file, "-", stdin=file.read_bytes())["examples"] == 400


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "rows.vw: is empty"),
        ("|a b\n|a c\n", "rows.vw: no row has a label and a weight, so nothing was learned"),
        ("1 0 |a b\n", "no row has a label and a weight"),
        ("3 |a\n3 |a\n", "all the first rows have the same label (3)"),
    ],
)
def test_nothing_to_learn(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "rows.vw"
    path.write_text(text)
    assert what in refused("train", path, "--loss", "hinge", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_odd_files(tmp_path: Path) -> None:
    assert "is a folder" in refused("train", tmp_path)
    assert "there is no such file" in refused("train", tmp_path / "none")
    assert "/dev/null: is empty" in refused("train", "/dev/null")
    zeros = tmp_path / "zeros"
    zeros.write_bytes(b"\0" * 5000)
    for given in ((), ("--format", "vw"), ("--format", "svmlight")):
        assert "zeros: is not text" in refused("train", zeros, *given)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (
            ("--loss", "logistic", "--tau", "0.5"),
            "the loss 'logistic' has no --tau; it has no parameters; it belongs to --loss quantile",
        ),
        (("--tau", "0.5"), "the loss 'modified_huber' has no --tau; it"),
        (("--loss", "none"), "there is no loss 'none'; the losses are exponential"),
        (("--learning-rate", "0"), "--learning-rate must be a finite number"),
        (("--interactions", "a"), "not of the form name*name"),
        (("--labels", "1"), "give two, as negative,positive"),
        (("--labels", "*,spam"), "--labels '*,spam': the labels of vw are numbers"),
        (("--propensity", "p"), "--propensity is for tables, and the files are vw"),
        (("--text", "x"), "--text is for tables"),
        (("--format", "svmlight", "--interactions", "a*b"), "the files are svmlight"),
        (("--weight", "x", "--propensity", "p"), "cannot both be given"),
        (("--checkpoint-every", "5"), "--checkpoint-every needs a model to save: -o MODEL"),
        (("-o", "none/m"), "there is no folder 'none'; make it first"),
        (("--update", "second_order", "--loss", "hinge"), "second_order"),
    ],
)
def test_options_that_make_no_sense(file: Path, options: tuple[str, ...], what: str) -> None:
    assert what in refused("train", file, *options)


@pytest.mark.parametrize(
    "options", [("--bits", "31"), ("--passes", "0"), ("--none",), ("--holdout", "1"), ("--update", "x"),
                ("--characters", "x"), ("--threads", "0"), ("-o", "/tmp")],
)  # fmt: skip
def test_usage_errors_have_a_code_of_their_own(file: Path, options: tuple[str, ...]) -> None:
    assert run("train", file, *options, code=2).stdout == ""


def test_a_folder_that_may_not_be_written_to(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "may not be written to" in refused("train", file, "-o", tmp_path / "m")


def test_the_model_knows_how_its_files_were_read(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    run("train", file, "--interactions", "a*b", "--loss", "logarithmic", "-o", path, "--bits", 14)
    kept = stored(path)
    assert kept.content.run is None
    assert (kept.spec.format, kept.spec.bits, kept.spec.interactions) == ("vw", 14, ("a*b",))
    assert kept.spec.label_rule is not None
    assert (kept.spec.label_rule.negative, kept.spec.label_rule.low) == ("-1", 0.0)
    assert kept.content.names is not None
    assert "a^w1*b^2" in kept.content.names.by_index().values()


def test_only_finite_numbers_in_json(tmp_path: Path) -> None:
    path = tmp_path / "rows.vw"
    path.write_text("1 1 -800 |a b\n-1 1 800 |a b\n" * 2)

    def no_constant(word: str) -> Any:
        raise AssertionError(word)

    said = run("train", path, "--loss", "exponential", "--holdout", 2, "--json").stdout
    found = json.loads(said, parse_constant=no_constant)
    assert found["examples"] == 4


def test_a_named_pipe(file: Path, tmp_path: Path) -> None:
    """As a shell makes them for <(zcat …): looked at several times, read once, and not a row is lost."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(file.read_bytes()),), daemon=True)
    writer.start()
    assert trained(pipe, "-o", tmp_path / "piped")["examples"] == 200
    writer.join()
    trained(file, "-o", tmp_path / "m")
    assert without_record(tmp_path / "piped") == without_record(tmp_path / "m")
    assert f"{pipe} can be read only once" in refused(
        "train", pipe, "--passes", 2, "--format", "vw", stdin=b""
    )


def test_the_help_knows_the_default_rates() -> None:
    said = " ".join(run("train", "--help").stdout.split())
    for name in losses.names():
        assert f"{name} {Settings(losses.by_name(name)).rate:g}" in said
    assert (
        "with normalized the same, but for hellinger, logarithmic, quantile, squared 0.67 times that" in said
    )
    assert "; with others 0.4]" in said
