"""An attempt at a certificate, and that nothing in the file can be changed without notice."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.active.certification import Certification, ReadRow, draw_order
from steelyard.active.sequential_tests import PlannedTest
from steelyard.active.verification import verify

CLASSES = ["ham", "spam"]


def attempt(measure: str = "error", target: float = 0.1, **given: Any) -> Certification:
    among = np.flatnonzero(np.arange(300) % 3)
    classes = given.pop("classes", CLASSES)
    return Certification(measure, target, classes, ["ham"] * 300, among, **given)


def finished(test: Certification, wrong_every: int = 50) -> Certification:
    while (row := test.ask_next()) is not None:
        test.answer(row, "spam" if row % wrong_every == 0 else "ham")
    return test


@pytest.mark.parametrize("measure", ["error", "precision"])
def test_what_is_certified_can_be_verified(measure: str, tmp_path: Path) -> None:
    test = finished(attempt(measure, 0.1 if measure == "error" else 0.9, seed=3, about={"model": "abc"}))
    assert test.passed
    path = tmp_path / "certificate.json"
    test.save(path)
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["model"] == "abc"
    assert all(draw["row"] % 3 for draw in written["draws"])
    assert str(verify(written)) == str(test) == written["says"]
    assert written["says"].startswith(f"certified: {measure} ")


def test_draws_are_uniform() -> None:
    among = np.array([1, 4, 5, 7])
    first = [draw_order(seed, 1, 10, among) for seed in range(4000)]
    assert all(sorted(order) == among.tolist() for order in first[:50])
    counts = np.bincount([order[0] for order in first], minlength=10)[among]
    assert np.abs(counts - 1000.0).max() < 4.0 * np.sqrt(750.0)
    assert draw_order(0, 1, 300, np.arange(300)).tolist() != draw_order(0, 2, 300, np.arange(300)).tolist()


def test_an_attempt_ends() -> None:
    bad = finished(attempt(), wrong_every=1)
    assert bad.test.hopeless
    assert not bad.passed
    few = finished(attempt(most=5))
    assert len(few.answers) == 5
    assert str(few).startswith("not certified: error below 0.1 on 200 rows without a label (5 labels, ")
    assert not verify(few.certificate()).passed
    sure = finished(attempt(target=0.999))
    assert sure.passed


def test_answers_are_those_of_the_row_that_was_asked_for() -> None:
    test = attempt()
    row = test.ask_next()
    assert row is not None
    with pytest.raises(ValueError, match=f"row 0 was not asked for: the next answer is that of row {row}"):
        test.answer(0, "ham")
    with pytest.raises(ValueError, match="has the label 'eggs': the classes are"):
        test.answer(row, "eggs")
    test.answer(row, None)  # nobody knows
    assert test.answers == [None]
    assert "1 label, 1 wrong" in str(verify(test.certificate()))
    with pytest.raises(ValueError, match="certificates are of error, precision, recall, not of 'recal'"):
        attempt("recal")
    with pytest.raises(ValueError, match="no row to draw from"):
        Certification("error", 0.1, CLASSES, ["ham"], np.zeros(0, np.int64))


def changed(certificate: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    other = copy.deepcopy(certificate)
    place: Any = other
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return other


def test_a_changed_certificate_is_found_out() -> None:
    certificate = finished(attempt(target=0.05, most=40), wrong_every=20).certificate()
    assert not certificate["passed"]
    for path, to, message in (
        (("passed",), True, "'passed' is True, but its draws and answers give False"),
        (("says",), "certified: all", "'says' is 'certified: all'"),
        (("alpha",), 0.5, "but its draws and answers give"),
        (("seed",), 1, "the draws are not those of the certificate's seed"),
        (("attempt",), 2, "the draws are not those"),
        (("draws", 3, "row"), 0, "draw 4 is row 0"),
        (("rows",), {"all_but": []}, "the draws are not those|is row"),
        (("format",), 3, "has the format 3"),
        (("draws",), [{"row": 1}], "is not a certificate: it has no"),
        (("pool",), "many", "is not a certificate: TypeError"),
    ):
        with pytest.raises(ValueError, match=message):
            verify(changed(certificate, *path, to=to))


def test_plans_and_recall() -> None:
    fixed = attempt(plan=0.02, most=None)
    assert isinstance(fixed.test, PlannedTest)
    finished(fixed)
    assert fixed.passed
    assert len(fixed.answers) == fixed.test.plan.labels
    assert verify(fixed.certificate()).passed
    with pytest.raises(ValueError, match="a plan is for error and precision"):
        attempt("recall", plan=0.9)
    order = draw_order(0, 0, 300, np.arange(300)).tolist()
    ranked = next(row for row in range(300) if row not in order[:3])
    reads = [ReadRow(order[0], "ham", 0), ReadRow(ranked, "spam", None), ReadRow(order[1], None, 0)]
    reads.append(ReadRow(order[2], "ham", 0))
    among = np.setdiff1d(np.arange(300), [read.row for read in reads])
    recall = finished(
        Certification("recall", 0.5, CLASSES, ["ham"] * 300, among, positive="spam", reads=reads), 1000
    )
    assert str(recall).startswith("certified: recall of 'spam' at least 0.5 in 300 rows (")
    certificate = json.loads(json.dumps(recall.certificate()))
    assert verify(certificate).passed
    for path, to, message in (
        (("reads", 0, 0), reads[-1].row, "read 1 is row"),
        (("reads", 1, 0), order[0], "was read twice, or is not in the pool"),
        (("positive",), "ham", "draws are not those|its draws and answers give"),
    ):
        with pytest.raises(ValueError, match=message):
            verify(changed(certificate, *path, to=to))


@pytest.mark.parametrize("given", [{}, {"plan": 0.02}, {"most": 3}])
def test_the_page_says_what_the_file_says(given: dict[str, Any], tmp_path: Path) -> None:
    test = finished(attempt(classes=["ham", "<b>spam</b>"], about={"model": "<i>"}, **given), 1000)
    path = tmp_path / "proof.json"
    test.save(path)
    page = (tmp_path / "proof.html").read_text(encoding="utf-8")
    assert ("NOT CERTIFIED" in page) == (not test.passed)
    assert "Error below 0.1 on 200 rows without a label" in page
    assert ("<svg" in page) == (test.plan is None)
    assert f"All {len(test.answers)} draws" in page
    assert "steelyard active verify proof.json" in page
    assert "<b>spam" not in page
    assert "<i>" not in page
    with pytest.raises(ValueError, match="name the JSON file"):
        test.save(tmp_path / "proof.html")
