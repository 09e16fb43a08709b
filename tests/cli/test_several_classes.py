"""More than two classes through the commands, against scikit-learn's metrics and the estimators."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from steelyard import OnlineClassifier, model_file
from steelyard.cli.commands import evaluate
from tests.cli.running import blocks_of, matrix, refused, run, trained

NAMES = ["art", "law", "sea"]
WORDS = {"art": "paint", "law": "court", "sea": "boat"}
LOGISTIC = ("--loss", "logistic", "--bits", 8)
COUNTS = (*LOGISTIC, "--repeated", "counts")  # of whose words no units are known, as of a matrix


def topics(count: int, seed: int = 0) -> list[tuple[str, float, str]]:
    """Labels, weights and texts: three topics with a word of their own, not always the right one."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        name = draw.choice(NAMES)
        shown = name if draw.random() < 0.8 else draw.choice(NAMES)
        text = f"{WORDS[shown]} w{draw.randrange(5)}"
        found.append((name, draw.choice([0.5, 1.0, 2.0]), text))
    return found


def write(path: Path, rows: list[tuple[str, float, str]]) -> Path:
    lines = [f"{name}\t{weight}\t{text}" for name, weight, text in rows]
    path.write_text("\n".join(["label\tweight\ttext", *lines]) + "\n")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "topics.tsv", topics(150))


@pytest.fixture
def model(table: Path, tmp_path: Path) -> Path:
    run("train", table, *LOGISTIC, "-o", tmp_path / "m")
    return tmp_path / "m"


def test_train(table: Path, tmp_path: Path) -> None:
    """The same models as those of an estimator, bit for bit; and what is said of them."""
    path = tmp_path / "m"
    said = run("train", table, *COUNTS, "-o", path).stdout
    assert "\nclasses: 3: art, law, sea (detected; change with --labels)\n" in said
    assert "error rate" in said
    assert "most frequent class" in said
    lines = [line.split() for line in said[said.index("counter") :].splitlines()[1:8]]
    names, weights = [row[0] for row in topics(150)], [row[1] for row in topics(150)]
    assert [line[4] for line in lines] == [names[2**k - 1] for k in range(7)]
    assert {line[5] for line in lines} <= set(NAMES)
    expected = OnlineClassifier("logistic", passes=1, shuffle=False).fit(matrix(path, table), names, weights)
    loaded = OnlineClassifier.load(path)
    np.testing.assert_array_equal(loaded.coef_, expected.coef_)
    np.testing.assert_array_equal(loaded.intercept_, expected.intercept_)
    assert loaded.classes_.tolist() == NAMES
    found = trained(table, *COUNTS)
    assert found["classes"] == NAMES
    assert found["progressive_loss"] == pytest.approx(expected.progressive_loss_, rel=1e-12)
    assert found["progressive_error"] == expected.progressive_error_
    shares = np.array([sum(w for n, w, _ in topics(150) if n == name) for name in NAMES])
    assert found["most_frequent_class"] == NAMES[int(shares.argmax())]
    assert found["most_frequent_class_error"] == pytest.approx(1.0 - shares.max() / shares.sum())
    assert found["best_constant"] is None
    assert found["best_constant_loss"] > found["progressive_loss"]


def test_predict(table: Path, model: Path) -> None:
    estimator, rows = OnlineClassifier.load(model), matrix(model, table)
    raw = np.array([line.split() for line in run("predict", model, table).stdout.splitlines()], float)
    assert raw == pytest.approx(estimator.decision_function(rows), rel=1e-7)
    printed = run("predict", model, table, "--as", "probability").stdout
    chances = np.array([line.split() for line in printed.splitlines()], float)
    assert chances == pytest.approx(estimator.predict_proba(rows), rel=1e-7)
    assert chances.sum(axis=1) == pytest.approx(np.ones(150))
    labels = run("predict", model, table, "--as", "label").stdout.split()
    assert labels == estimator.predict(rows).tolist()
    assert labels == [NAMES[k] for k in raw.argmax(axis=1)]


def test_evaluate(table: Path, model: Path, tmp_path: Path) -> None:
    names, weights = [row[0] for row in topics(150)], [row[1] for row in topics(150)]
    labels = run("predict", model, table, "--as", "label").stdout.split()
    found = json.loads(run("evaluate", model, table, "--json").stdout)
    expected = sklearn_metrics.precision_recall_fscore_support(names, labels, sample_weight=weights)
    for key, column in zip(("precision", "recall", "f1", "weight"), expected, strict=True):
        assert [row[key] for row in found["classes"]] == pytest.approx(column)
    confusion = sklearn_metrics.confusion_matrix(names, labels, sample_weight=weights)
    assert np.array(found["confusion"]) == pytest.approx(confusion)
    assert found["accuracy"] == pytest.approx(
        sklearn_metrics.accuracy_score(names, labels, sample_weight=weights)
    )
    said = run("evaluate", model, table).stdout.splitlines()
    corner = next(k for k, line in enumerate(said) if line.startswith("actual \\ predicted"))
    assert said[corner].split()[3:] == NAMES
    for name, line, row in zip(NAMES, said[corner + 1 :], confusion, strict=False):
        assert line.split() == [name, *(f"{weight:,.6g}" for weight in row)]
    head = next(k for k, line in enumerate(said) if line.startswith("class "))
    assert said[head].split() == ["class", "precision", "recall", "F1", "weight"]
    assert said[head + 1].split()[:2] == ["art", f"{expected[0][0]:.4f}"]
    # the classes called otherwise, in the same order
    other = write(
        tmp_path / "other.tsv", [(name.upper(), weight, text) for name, weight, text in topics(150)]
    )
    renamed = json.loads(run("evaluate", model, other, "--labels", "ART,LAW,SEA", "--json").stdout)
    assert renamed == found | {"notes": []}
    said_ = refused("evaluate", model, other, "--labels", "ART,LAW")
    assert said_ == "--labels ART,LAW: the model has 3 classes, art, law, sea"
    assert "the label 'LAW' is none of the 3 classes art, law, sea" in refused("evaluate", model, other)


def test_tables_of_many_classes() -> None:
    """They have no room for a confusion table, nor for long names."""
    rows = [
        {"class": f"{k}" * (30 if k == 1 else 1), "precision": None, "recall": 0.5, "f1": 0.25, "weight": 1.0}
        for k in range(13)
    ]
    result = {"classes": rows, "confusion": [[0.0] * 13] * 13, "confusions": [], "notes": []}
    said = evaluate.text(result)
    assert "the confusion table of 13 classes is in the output of --json" in said
    assert "confusions" not in said
    result["confusions"] = [
        {"actual": "a" * 30, "predicted": "b", "weight": 1234.0},
        {"actual": "c", "predicted": "d", "weight": 5.0},
    ]
    listed = evaluate.text(result).partition("most frequent confusions, actual → predicted\n")[2]
    assert listed.startswith(
        f"         1,234  {'a' * 17}… → b\n             5  {'c':<18} → d\n\nthe confusion table"
    )
    assert "\n11111111111111111… " in said
    assert " – " in said


def test_inspect(table: Path, model: Path) -> None:
    found = json.loads(run("inspect", model, "--top", 2, "--json").stdout)
    estimator = OnlineClassifier.load(model)
    content = model_file.load(model)
    assert content.names is not None
    names = content.names.by_index()
    assert found["classes"] == NAMES
    assert found["labels"] == {"art": 0.0, "law": 1.0, "sea": 2.0}
    assert found["nonzero"] == np.count_nonzero(estimator.coef_)
    assert found["progressive_error"] == pytest.approx(estimator.progressive_error_)
    for each, name, weights, bias in zip(
        found["models"], NAMES, estimator.coef_, estimator.intercept_, strict=True
    ):
        assert (each["class"], each["bias"]) == (name, bias)
        assert each["top_positive"][0]["feature"] == f"text^{WORDS[name]}" == names[int(weights.argmax())]
        assert each["top_positive"][0]["weight"] == weights.max()
        assert each["top_negative"][0]["weight"] == weights.min()
    said = run("inspect", model, "--top", 1).stdout
    assert "classes                art, law, sea\n" in said
    for name in NAMES:
        assert f"\nlargest coefficients of {name}\n" in said
    assert "\nbias " not in said


def test_explain(table: Path, model: Path) -> None:
    """The likeliest class against the next: contributions and bias add up to the difference."""
    raw = np.array([line.split() for line in run("predict", model, table).stdout.splitlines()], float)
    said = run("explain", model, table, "--rows", 30, "--top", 50, "--json").stdout
    for row, predictions in zip(map(json.loads, said.splitlines()), raw[:30], strict=True):
        next_best, best = np.argsort(predictions)[-2:]
        assert (row["class"], row["runner_up"]) == (NAMES[best], NAMES[next_best])
        assert row["prediction"] == pytest.approx(predictions[best] - predictions[next_best], abs=1e-6)
        parts = sum(part["contribution"] for part in row["contributions"])
        assert parts + row["bias"] + row["offset"] == pytest.approx(row["prediction"], abs=1e-6)
    first = run("explain", model, table, "--rows", 1).stdout.splitlines()[0]
    assert f", label {topics(1)[0][0]} (bias " in first
    assert " ahead of " in first


@pytest.mark.parametrize("options", [(), ("--learning-rate", "auto")])
def test_going_on_is_as_if_never_stopped(
    tmp_path: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a model, and from a checkpoint, also with several learning rates."""
    rows = topics(120, 1)
    one, two = write(tmp_path / "one.tsv", rows[:60]), write(tmp_path / "two.tsv", rows[60:])
    whole = trained(one, two, *LOGISTIC, *options, "-o", tmp_path / "whole")
    trained(one, *LOGISTIC, *options, "-o", tmp_path / "m")
    on = trained(two, "--resume", tmp_path / "m", "-o", tmp_path / "m")
    assert (on["weight"], on["auto"]) == (whole["weight"], bool(options))
    assert on["progressive_loss"] == pytest.approx(whole["progressive_loss"], rel=1e-12)
    check_equal(tmp_path / "m", tmp_path / "whole")
    run_options = ("--passes", 2, "--holdout", 4)
    whole = trained(one, two, *LOGISTIC, *options, *run_options, "-o", tmp_path / "whole")
    save = model_file.save

    def stop(path: Path, content: Any) -> None:
        save(path, content)
        raise KeyboardInterrupt

    blocks_of(500, monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(model_file, "save", stop)
        arguments = (one, two, *LOGISTIC, *options, *run_options, "-o", tmp_path / "n")
        said = run("train", *arguments, "--checkpoint-every", 70, code=1).stderr
    checkpoint = tmp_path / "n.checkpoint"
    assert checkpoint.exists(), said
    on = trained(one, two, "--resume", checkpoint, "-o", tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "whole").read_bytes()
    for key in ("examples", "weight", "progressive_loss", "progressive_error", "held_out_loss",
                "held_out_error", "most_frequent_class", "learning_rate"):  # fmt: skip
        assert on[key] == (whole[key] if isinstance(whole[key], str) else pytest.approx(whole[key])), key


def check_equal(first: Path, second: Path) -> None:
    one, two = (model_file.load(path).engine for path in (first, second))
    assert one.best == two.best
    for model, other in zip(one.models, two.models, strict=True):
        for name, array in model.arrays().items():
            np.testing.assert_array_equal(array, other.arrays()[name])


def test_no_class_is_missed(tmp_path: Path) -> None:
    """Not one that the first rows do not have: files are looked through."""
    rows = [(name, 1.0, WORDS[name]) for name in NAMES for _ in range(1100)]
    path = write(tmp_path / "sorted.tsv", [*rows, ("zoo", 1.0, "cage")])
    found = trained(path, "--bits", 8, "-o", tmp_path / "m")
    assert found["classes"] == [*NAMES, "zoo"]
    (remark,) = [remark for remark in found["remarks"] if "the label changes" in remark]
    assert "--shuffle learns them in random order" in remark
    said = refused("train", path, "--labels", "art,law,sea")
    assert (
        "sorted.tsv, line 3302: column label: the label 'zoo' is none of the 3 classes art, law, sea" in said
    )
    assert trained(path, "--labels", "art,law,sea", "--on-error", "skip")["skipped"] == 1
    said = refused("train", write(path, [("late", 1.0, "x")]), "--resume", tmp_path / "m")
    assert "the label 'late' is none of the 4 classes art, law, sea, zoo" in said


@pytest.mark.parametrize("line", ["{} |f a{}", "{} {}:1"])
def test_whole_numbers_as_classes(line: str, tmp_path: Path) -> None:
    """Of Vowpal Wabbit and svmlight files too, if the loss is one for classes."""
    path, model = tmp_path / "rows.dat", tmp_path / "m"
    codes = [k * 7 % 3 + 1 for k in range(60)]
    path.write_text("".join(line.format(code, code) + "\n" for code in codes))
    found = trained(path, *LOGISTIC, "-o", model)
    assert found["classes"] == [1, 2, 3]
    assert OnlineClassifier.load(model).classes_.tolist() == [1, 2, 3]
    assert run("predict", model, path, "--as", "label").stdout.split() == [*map(str, codes)]
    assert json.loads(run("evaluate", model, path, "--json").stdout)["accuracy"] == 1.0
    row = json.loads(run("explain", model, path, "--rows", 1, "--json").stdout)
    assert (row["label"], row["class"]) == (1.0, "1")


def test_many_classes_are_not_all_announced(tmp_path: Path) -> None:
    path = tmp_path / "many.dat"
    path.write_text("".join(f"{k % 14} {k % 14 + 1}:1\n" for k in range(28)))
    said = run("train", path, "--loss", "hinge", "--bits", 5, "--holdout", 2).stdout
    assert "classes: 14: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (detected" in said
    assert "held-out error rate" in said


def test_a_converted_file(table: Path, model: Path, tmp_path: Path) -> None:
    """Classes become numbers, and are named again."""
    pytest.importorskip("pyarrow")
    ready = tmp_path / "topics.arrow"
    run("convert", table, "--bits", 8, "-o", ready)
    trained(ready, "--loss", "logistic", "-o", tmp_path / "n")
    for file in (table, ready):
        expected = run("predict", model, table, "--as", "label").stdout
        assert run("predict", tmp_path / "n", file, "--as", "label").stdout == expected
        assert run("predict", model, file, "--as", "label").stdout == expected
        both = run("evaluate", tmp_path / "n", file).stdout, run("evaluate", model, table).stdout
        assert both[0].partition("note: ")[0] == both[1].partition("note: ")[0]
    row = json.loads(run("explain", model, ready, "--rows", 1, "--json").stdout)
    assert row["label"] == topics(1)[0][0]


def test_converted_files_and_numbers_that_are_named_are_classes(tmp_path: Path) -> None:
    original = write(tmp_path / "topics.tsv", topics(60))
    converted = tmp_path / "topics.arrow"
    run("convert", original, "-o", converted, "--bits", "10")
    said = run("train", converted, "-o", tmp_path / "m").stdout
    assert "loss: modified_huber" in said
    assert f"classes: {len(NAMES)}: {', '.join(NAMES)}" in said
    run("train", original, "--bits", "10", "-o", tmp_path / "n")
    one, other = (run("predict", tmp_path / name, original, "--as", "label").stdout for name in "mn")
    assert one == other
    numbers = tmp_path / "numbers.svm"
    numbers.write_text("".join(f"{1 + k % 3} {1 + k % 3}:1\n" for k in range(30)))
    assert "loss: modified_huber" in run("train", numbers, "--labels", "1,2,3", "--bits", "4").stdout
    assert "loss: squared" in run("train", numbers, "--bits", "4").stdout
    swept = json.loads(run("sweep", converted, "--learning-rate", "0.1,0.5", "--json").stdout)
    assert swept["classes"] == len(NAMES)


def test_names_of_classes_may_hold_commas(tmp_path: Path) -> None:
    cities = tmp_path / "cities.tsv"
    cities.write_text("city\ttext\n" + "Paris\tseine\nParis, TX\tlonghorn\n" * 20)
    model = tmp_path / "m"
    assert (
        "labels: Paris is -1, Paris, TX is 1" in run("train", cities, "--label", "city", "-o", model).stdout
    )
    predicted = run("predict", model, cities, "--as", "label").stdout.splitlines()
    assert predicted[-2:] == ["Paris", "Paris, TX"]
    named = OnlineClassifier().fit_files(cities, label="city", labels=["Paris, TX", "Paris"], bits=8)
    assert named.classes_.tolist() == ["Paris, TX", "Paris"]
    three = tmp_path / "three.tsv"
    three.write_text("city\ttext\n" + "Paris\tseine\nParis, TX\tlonghorn\nRome\ttiber\n" * 20)
    assert "classes: 3: Paris, Paris, TX, Rome" in run("train", three, "--label", "city", "-o", model).stdout


def test_a_third_class_behind_the_first_rows(tmp_path: Path) -> None:
    sorted_rows = write(
        tmp_path / "sorted.tsv", [(name, 1.0, WORDS[name]) for name in NAMES for _ in range(600)]
    )
    said = run("train", sorted_rows, "--bits", "8").stdout
    assert "classes: 3: art, law, sea" in said
    assert "the label changes 2 times from row to row" in said


def test_a_class_without_rows_is_told(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.tsv", topics(60))
    said = run("train", rows, "--labels", "*,art,lawn", "--bits", "8").stdout
    assert "note: no row that was learned is of the class lawn" in said
    many = ",".join(f"c{number}" for number in range(30))
    said = run("train", rows, "--labels", f"*,art,{many}", "--bits", "8").stdout
    assert "is of the 30 classes c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, …\n" in said


def test_rows_without_a_label_are_counted(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.tsv", topics(60))
    model = tmp_path / "m"
    run("train", rows, "--bits", "8", "-o", model)
    gaps = tmp_path / "gaps.tsv"
    gaps.write_text(rows.read_text() + "\t1\tboat\n")
    said = run("evaluate", model, gaps).stdout
    assert "examples               60" in said
    assert "without label or weight 1" in said
    bare = tmp_path / "bare.tsv"
    bare.write_text("weight\ttext\n1\tboat\n")
    assert "(the labels are in the column 'label')" in refused("evaluate", model, bare)
