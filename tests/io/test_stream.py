"""Streams: problems at the right line, rows that are no good left out and counted, whatever the blocks."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard import losses
from steelyard.io import sources
from steelyard.io import stream as streams
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import two_classes
from steelyard.io.stream import Stream
from tests.support import slow_text
from tests.text import texts

SIZES_AND_THREADS = list(itertools.product([1, 37, 1 << 21], [1, 2, 4]))
VW = InputSpec("vw", bits=16)
HINGE, LOGARITHMIC, SQUARED = map(losses.by_name, ("hinge", "logarithmic", "squared"))
every_way = pytest.mark.parametrize(("size", "threads"), SIZES_AND_THREADS)


def stream_of(folder: Path, text: bytes, size: int = 1 << 21, threads: int = 1, **options: Any) -> Stream:
    path = folder / "rows"
    path.write_bytes(text)
    return Stream([path], VW.reader(), block_size=size, threads=threads, **options)


def labels(stream: Stream) -> list[float]:
    return [label for parsed in stream for label in parsed.examples.labels.tolist()]


def lines_of(stream: Stream) -> list[int]:
    return [problem.line for problem in stream.problems]


TEXT = b"1 |a b\n\nx |a b\n-1 |a b\n1 |a b:x\n7 |a b\n1 -2 |a b\n1 |a b"  # bad: 3, 5, 7; foreign: 6


@every_way
def test_the_first_problem_ends_it(tmp_path: Path, size: int, threads: int) -> None:
    stream = stream_of(tmp_path, TEXT, size, threads, loss=HINGE)
    with pytest.raises(InputError) as caught:
        list(stream)
    assert str(caught.value) == (
        f"{tmp_path}/rows, line 3: the label 'x' is not a number\n"
        "(on_error='skip' leaves such lines out and counts them)"
    )


@every_way
def test_problems_are_skipped_and_described_in_order(tmp_path: Path, size: int, threads: int) -> None:
    stream = stream_of(tmp_path, TEXT, size, threads, loss=HINGE, skip=True)
    assert labels(stream) == [1.0, -1.0, 1.0]
    assert (stream.rows, stream.skipped) == (3, 4)
    assert [str(problem).partition("rows, ")[2] for problem in stream.problems] == [
        "line 3: the label 'x' is not a number",
        "line 5: 'b:x': the value after the : is not a number",
        "line 6: the label 7 does not suit hinge loss, which takes -1 or 1 "
        "(labels='negative,positive' says which of two labels is which)",
        "line 7: the weight '-2' is negative: weights must be 0 or more",
    ]


@every_way
def test_a_foreign_label_before_a_bad_line_is_the_first_problem(
    tmp_path: Path, size: int, threads: int
) -> None:
    stream = stream_of(tmp_path, b"1 |a\n3 |a\n1 |a\nx |a\n", size, threads, loss=HINGE)
    with pytest.raises(InputError, match=r"rows, line 2: the label 3 does not suit"):
        list(stream)


@every_way
def test_lines_are_numbered_in_each_file(tmp_path: Path, size: int, threads: int) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"1 |a\n\n1 |a:x\n")
    stream = Stream(
        sources.expand([tmp_path / "*"]), VW.reader(), block_size=size, threads=threads, skip=True
    )
    assert labels(stream) == [1.0, 1.0]
    found = [(Path(problem.path).name, problem.line) for problem in stream.problems]
    assert found == [("a", 3), ("b", 3)]


@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.one_of(texts.vw_line(wrong=True), st.sampled_from([b"", b"3 |a", b"1 |a", b"0 |a"])), max_size=9
    ),
    st.sampled_from([1, 9, 50, 1 << 21]),
    st.sampled_from([1, 3]),
)
def test_problems_against_a_slow_reader(
    tmp_path: Path, given_lines: list[bytes], size: int, threads: int
) -> None:
    expected, wrong = [], []
    for number, line in enumerate(given_lines, 1):
        try:
            line.decode()
            row = slow_text.vw(line)
        except ValueError:
            wrong.append(number)
            continue
        if row is not None and not math.isnan(row.label) and not 0.0 <= row.label <= 1.0:
            wrong.append(number)
        elif row is not None:
            expected.append(row.label)
    stream = stream_of(tmp_path, texts.block(given_lines), size, threads, loss=LOGARITHMIC, skip=True)
    np.testing.assert_array_equal(labels(stream), expected)
    assert stream.skipped == len(wrong)
    assert lines_of(stream) == wrong[: streams.DESCRIBED]


def test_all_are_counted_and_some_described(tmp_path: Path) -> None:
    """Finding the line of a row takes a while: it is done for those only that are described."""
    text = b"7 |a b\n" * 20_000 + b"1 |a b\n"
    stream = stream_of(tmp_path, text, loss=HINGE, skip=True)
    assert labels(stream) == [1.0]
    assert stream.skipped == 20_000
    assert lines_of(stream) == list(range(1, streams.DESCRIBED + 1))


@every_way
def test_a_label_rule(tmp_path: Path, size: int, threads: int) -> None:
    rule = two_classes("0", "1", -1.0, 1.0)
    text = b"0 |a\n1 |a\n|a\n2 |a\n"
    stream = stream_of(tmp_path, text, size, threads, loss=HINGE, label_rule=rule, skip=True)
    np.testing.assert_array_equal(labels(stream), [-1.0, 1.0, math.nan])
    (problem,) = stream.problems
    assert (problem.line, problem.what) == (
        4,
        "the label '2' is neither 0 nor 1; labels='a,b,c' names all classes",
    )


def test_a_label_of_many_digits(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: the label 1234567 does not suit hinge"):
        list(stream_of(tmp_path, b"1234567 |a\n", loss=HINGE))


def test_no_advice_about_two_labels_where_there_are_not_two(tmp_path: Path) -> None:
    class Own(type(SQUARED)):  # type: ignore[misc]
        labels = losses.by_name("logarithmic").labels

    with pytest.raises(InputError, match=r"the label 5 does not suit Own loss, which takes 0 or 1 \(labels="):
        list(stream_of(tmp_path, b"5 |a\n", loss=Own()))
    assert labels(stream_of(tmp_path, b"5 |a\n-1e9 |a\n", loss=SQUARED)) == [5.0, -1e9]


@every_way
def test_propensities(tmp_path: Path, size: int, threads: int) -> None:
    text = b"1 0.25 |a\n7 0.5 |a\n1 0 |a\n0 |a\n| a\n1 1e-310 |a\n0 0.1 |a\n"
    stream = stream_of(tmp_path, text, size, threads, loss=LOGARITHMIC, propensities=True, skip=True)
    weights = [weight for parsed in stream for weight in parsed.examples.sample_weight.tolist()]
    assert weights == [4.0, 1.0, 0.0, 10.0]
    assert [(problem.line, problem.what[:19]) for problem in stream.problems] == [
        (2, "the label 7 does no"),
        (3, "a propensity of 0: "),
        (6, "a propensity of 1e-"),
    ]
    assert stream.skipped == 3


def test_a_propensity_of_0_ends_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: a propensity of 0: a propensity must be above 0"):
        list(stream_of(tmp_path, b"1 1 |a\n1 0 |a\n", propensities=True))


def test_how_far_it_is(tmp_path: Path) -> None:
    stream = stream_of(tmp_path, b"1 |a b\n" * 10, size=14)
    assert stream.size == 70
    positions = [stream.position for _ in stream]
    assert positions == sorted(positions)
    assert positions[-1] == 70
    assert Stream(["-"], VW.reader()).size is None
    assert Stream([tmp_path / "rows", "/dev/null"], VW.reader()).size is None


def test_remarks_are_made_once(tmp_path: Path) -> None:
    path = tmp_path / "ranks.svm"
    path.write_bytes(b"1 qid:1 1:1\n2 qid:1 2:1\n" * 20)
    stream = Stream([path], InputSpec("svmlight").reader(), block_size=30)
    assert len(labels(stream)) == 40
    assert stream.remarks == {"qid is ignored: rows are learned one by one, not as groups"}


@pytest.mark.parametrize("kind", ["vw", "svmlight"])
@pytest.mark.parametrize("text", [b"", b"\n", b"\0" * 1000, b"\0\n\0\n", b"\xff\xfd\n"])
def test_odd_files(tmp_path: Path, kind: str, text: bytes) -> None:
    path = tmp_path / "odd"
    path.write_bytes(text)
    stream = Stream([path], InputSpec(kind).reader(), skip=True)
    assert labels(stream) == []
    assert stream.skipped == sum(line != b"" for line in text.split(b"\n"))


def test_namespaces_that_no_row_has_had(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"1 |a b |c d\n")
    stream = Stream([path], InputSpec("vw", 8, ("a*c", "a*z")).reader())
    assert stream.unmet == ["a", "c", "z"]
    (parsed,) = stream
    assert stream.unmet == ["z"]
    predicted = parsed.predicted(np.array([0.5]))
    assert predicted.take(np.array([0])).predictions == [0.5]


def test_nothing_is_left(tmp_path: Path) -> None:
    stream = stream_of(tmp_path, b"7 |a\n8 |a\n", loss=HINGE, skip=True)
    assert str(stream.empty("there are no rows")) == "there are no rows"
    assert labels(stream) == []
    said = str(stream.empty("there are no rows"))
    assert said.startswith("no row is left: 2 could not be used; the first is\n")
    assert "line 1: the label 7 does not suit hinge loss" in said
