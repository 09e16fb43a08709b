"""The readers of Vowpal Wabbit and svmlight text against slow ones in plain Python."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.features import HashedRowBuffers, HashedRows
from steelyard.native.declare import PLAIN
from steelyard.text import feature_names, lines, sparse_text
from steelyard.text.index_value import BATCH, new_batch
from steelyard.text.swar import SPARE
from tests.support import slow_text
from tests.text import texts

few = settings(deadline=None, max_examples=30 if PLAIN else 120)
LARGEST = 1e17
FURTHER = b" " * 63 + b"\n"  # a line with nothing in it


def parse(
    data: bytes, kind: str, seeds: Any = ()
) -> tuple[HashedRows, int, list[list[int]], np.ndarray[Any, Any]]:
    text = np.frombuffer(data, np.uint8)
    with np.errstate(over="ignore"):
        room, stops = HashedRowBuffers("float64").for_text(len(text))
        arrays = room.heads, room.features
        problems = np.empty((8, 5), np.int64)
        if kind == "vw":
            fields = np.array(seeds, np.int64)
            found = sparse_text.parse_vw(
                text, len(text), stops, new_batch(), LARGEST, fields, *arrays, problems
            )
        else:
            found = sparse_text.parse_svmlight(
                text, len(text), stops, new_batch(), LARGEST, *arrays, problems
            )
    hashed = room.first(int(found[0]), int(found[1]))
    return hashed, int(found[2]), problems[: found[3], :3].tolist(), text


def check(data: bytes, kind: str) -> None:
    """Every line that the slow reader can read comes out the same; every other is a problem.

    Features near the end of a text are read another way than those with more of it behind them.
    """
    check_as_it_is(data, kind)
    check_as_it_is(data + FURTHER, kind)


def check_as_it_is(data: bytes, kind: str) -> None:
    slow = slow_text.vw if kind == "vw" else slow_text.svmlight
    hashed, count, problems, _ = parse(data, kind)
    expected, wrong = [], []
    given_lines = data.split(b"\n")[:-1]
    for number, line in enumerate(given_lines):
        try:
            line.decode()
            row = slow(line)
        except ValueError:  # of which bad UTF-8 is one
            wrong.append(number)
        else:
            expected += [row] if row is not None else []
    assert count == len(given_lines)
    assert [line for line, *_ in problems] == wrong[:8]
    assert len(hashed.labels) == len(expected)
    start = 0
    for k, row in enumerate(expected):
        span = slice(start, int(hashed.ends[k]))
        start = span.stop
        assert hashed.keys[span].tolist() == [feature.key for feature in row.features]
        assert hashed.values[span].tolist() == [feature.value for feature in row.features]
        assert hashed.labels[k] == row.label or (math.isnan(hashed.labels[k]) and math.isnan(row.label))
        assert (hashed.sample_weight[k], hashed.offsets[k]) == (row.importance, row.base)
        assert data[hashed.tags[k, 0] : hashed.tags[k, 1]] == row.tag


@few
@given(st.lists(texts.vw_line(), max_size=4))
def test_vw_lines(given_lines: list[bytes]) -> None:
    check(texts.block(given_lines), "vw")


@few
@given(st.lists(st.one_of(texts.vw_line(wrong=True), st.binary(max_size=30)), max_size=4))
def test_vw_lines_good_and_bad(given_lines: list[bytes]) -> None:
    check(texts.block([line.replace(b"\n", b"") for line in given_lines]), "vw")


@few
@given(st.lists(texts.svmlight_line(), max_size=4))
def test_svmlight_lines(given_lines: list[bytes]) -> None:
    check(texts.block(given_lines), "svmlight")


@few
@given(
    st.lists(
        st.one_of(texts.svmlight_line(wrong=True), st.text("1:q id#-.\t", max_size=12).map(str.encode)),
        max_size=4,
    )
)
def test_svmlight_lines_good_and_bad(given_lines: list[bytes]) -> None:
    check(texts.block(given_lines), "svmlight")


@few
@given(st.text("1 |:'#.-e\té\r\n", max_size=40), st.sampled_from(["vw", "svmlight"]))
def test_near_misses(text: str, kind: str) -> None:
    check(text.encode() + b"\n", kind)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x |a b", lines.BAD_LABEL),
        ("1 x |a b", lines.BAD_IMPORTANCE),
        ("1 -2 |a b", lines.NEGATIVE_IMPORTANCE),
        ("1 1 x |a b", lines.BAD_BASE),
        ("1 1 1 1 |a b", lines.TOO_MANY_NUMBERS),
        ("1 1 1", lines.NO_BAR),
        ("1 |a:x b", lines.BAD_NAMESPACE_VALUE),
        ("1 |a b:x", lines.BAD_VALUE),
        ("1 |a b:1:2", lines.BAD_VALUE),
        ("1 |a b:nan", lines.NOT_FINITE),
        ("1 |a 3:1.5e400 4:1", lines.NOT_FINITE),
        ("1 |a 3:1.5e 4:1", lines.BAD_VALUE),
        ("1 |a b:1e18", lines.TOO_LARGE),
        ("1 |a:1e10 b:1e10", lines.TOO_LARGE),
    ],
)
def test_what_is_wrong_with_a_vw_line(line: str, code: int) -> None:
    hashed, _, problems, _ = parse(f"1 |a b\n{line}\n-1 |a b\n".encode(), "vw")
    assert [problem[:2] for problem in problems] == [[1, code]]
    assert hashed.labels.tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x 1:1", lines.BAD_LABEL),
        ("1,2 1:1", lines.BAD_LABEL),
        ("1 a:1", lines.BAD_INDEX),
        ("1 -1:1", lines.BAD_INDEX),
        ("1 17", lines.BAD_INDEX),
        ("1 1:x", lines.BAD_VALUE),
        ("1 1:inf", lines.NOT_FINITE),
        ("1 3:1.5e400 4:1", lines.NOT_FINITE),
        ("1 3:12345678901234567890e 4:1", lines.BAD_VALUE),
        ("1 1:-1e18", lines.TOO_LARGE),
    ],
)
def test_what_is_wrong_with_an_svmlight_line(line: str, code: int) -> None:
    hashed, _, problems, _ = parse(f"1 1:1\n{line}\n-1 1:1\n".encode(), "svmlight")
    assert [problem[:2] for problem in problems] == [[1, code]]
    assert hashed.labels.tolist() == [1.0, -1.0]


@pytest.mark.parametrize("gap", [b" ", b"\t", b"\r", b"\r\t "])
def test_there_is_room_for_every_feature_whatever_stands_between(gap: bytes) -> None:
    """Arrays are sized by counting gaps: a kind that is not counted would be written beyond their end."""
    check(b"1 |a" + gap + gap.join(b"b%d" % k for k in range(200)) + b"\n", "vw")
    check(b"1" + gap + gap.join(b"%d:1" % k for k in range(200)) + b"\n", "svmlight")


def test_all_problems_are_counted_and_the_first_described() -> None:
    text = np.frombuffer(b"x |a\n" * 20, np.uint8)
    room = HashedRows.empty(20, 40, "float32")
    stops = np.empty(len(text) + SPARE, np.int32)
    problems = np.empty((3, 5), np.int64)
    found = sparse_text.parse_vw(
        text, len(text), stops, new_batch(), LARGEST, np.zeros(0, np.int64), room.heads, room.features,
        problems,
    )  # fmt: skip
    assert (found[0], found[3]) == (0, 20)
    assert problems[:, 0].tolist() == [0, 1, 2]


def test_fields_of_interactions() -> None:
    with np.errstate(over="ignore"):
        seeds = [slow_text.key(b"b", 0), slow_text.key(b"7", 0)]
    hashed, *_ = parse(b"1 |a x |b y z |7 q | w\n", "vw", seeds)
    assert hashed.fields.tolist() == [-1, 0, 0, 1, -1]
    # features with numbers for names come in runs, if there is enough text behind them
    hashed, *_ = parse(b"1 |a 3:1 4:2 |b 5:0.5 6:2 7 |7 8:1\n" + b"-1 |c x\n" * 20, "vw", seeds)
    assert hashed.fields.tolist() == [-1, -1, 0, 0, 0, 1, *20 * [-1]]


@given(st.binary(max_size=12))
@settings(deadline=None)
def test_utf8(data: bytes) -> None:
    try:
        data.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert lines.valid_utf8(np.frombuffer(data + b"\n", np.uint8), 0, len(data)) == valid


@pytest.mark.parametrize(
    "data",
    [b"\xc3\xa9", b"\xe6\xb1\x89", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\xc0\x80", b"\xe0\x80\x80",
     b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\x80", b"\xc3", b"\xc3(", b"\xf0\x80\x80\x80"],
)  # fmt: skip
def test_utf8_edges(data: bytes) -> None:
    test_utf8.hypothesis.inner_test(data)  # type: ignore[attr-defined]


def composed(data: bytes, places: list[list[int]], kind: str = "vw") -> list[bytes]:
    hashed, _, _, text = parse(data, kind)
    kernel = feature_names.compose_vw_names if kind == "vw" else feature_names.compose_indices
    lengths = np.empty(len(places), np.int32)
    wanted = np.array(places, np.int32)
    made_of = [np.zeros(0, np.int32)] * 2 if kind == "vw" else []
    size = kernel(text, hashed.starts, *made_of, wanted, np.empty(0, np.uint8), lengths)
    out = np.empty(size, np.uint8)
    assert kernel(text, hashed.starts, *made_of, wanted, out, lengths) == size
    ends = np.cumsum(lengths)
    return [out[end - length : end].tobytes() for end, length in zip(ends, lengths, strict=True)]


def test_names() -> None:
    data = b"1 |user:2 anna:3 |item x\ty |  9:1 :2\n"
    assert composed(data, [[0, -1], [0, 2], [3, -1], [4, -1]]) == [
        b"user^anna",
        b"user^anna*item^y",
        b"9",
        b"",
    ]
    assert composed(b"1 17:2 4:1\n", [[1], [0]], "svmlight") == [b"4", b"17"]


def test_names_far_from_each_other() -> None:
    """The namespace is found whether the name before it was near, far, or on a line behind."""
    data = b"1 |first " + b" ".join(b"name%d" % k for k in range(40)) + b" |other z\n1 |third q\n"
    found = composed(data, [[0], [39], [40], [41], [1]])
    assert found == [b"first^name0", b"first^name39", b"other^z", b"third^q", b"first^name1"]


@few
@given(
    st.integers(0, 10**10),
    st.sampled_from(["", "-", "+", "--"]),
    st.one_of(st.integers(0, 99), st.integers(0, 10**10)).map(str) | st.just(""),
    st.sampled_from(["", "."]),
    st.one_of(st.text("0123456789", max_size=30), st.text("0123456789", max_size=9)),
    st.sampled_from(["", "", "e-02", "e-2", "e-", "e-2x", "e-022", "E+1", "e-25", "e30", "e400", "e", "ex"]),
    st.sampled_from([" ", "\t", "\r", "  ", "\x01", "|"]),
)
def test_pairs(index: int, sign: str, whole: str, point: str, fraction: str, power: str, gap: str) -> None:
    """`index:whole.fraction` of every length, also where it is longer than one look takes in."""
    value = sign + whole + point + (fraction if point else "") + power
    for line in (f"1 {index}:{value}{gap}3:1", f"1 {index}:{value}", f"1 2:3{gap}{index}:{value}"):
        check(line.encode() + b"\n", "svmlight")
        check(line.replace("1 ", "1 | ", 1).encode() + b"\n", "vw")


@pytest.mark.parametrize(
    "power", ["e-02", "E-02", "e-19", "e-21", "e-99", "e+02", "e--2", "e-2x", "x-02", "e-2."]
)
def test_powers_of_four_characters(power: str) -> None:
    for digits in ("6.2699720", "6.5", "12345678.5", "6,5", "65"):
        check(f"1 3:{digits}{power} 4:{digits}{power} 5:1\n".encode(), "svmlight")


@pytest.mark.parametrize("count", [BATCH + 1] if PLAIN else [BATCH - 1, BATCH, BATCH + 1, 3 * BATCH])
def test_more_features_than_wait_at_once(count: int) -> None:
    """Of all kinds, and also where a line that cannot be read goes beyond what waits."""
    kinds = [f"{k}:{k}.25 {k}:-{k} {k}:1.5e-3 {k}:0.123456789012345678" for k in range(count)]
    for features in zip(*(kind.split() for kind in kinds), strict=True):
        good = " ".join(features)
        text = f"1 {good}\n1 {good} 5:x\n1 {good} 4:1\n".encode()
        check(text, "svmlight")
        check(text.replace(b"1 0:", b"1 |a 0:"), "vw")
    check(b"1 |a " + b" ".join(b"n%d:2 %d:3" % (k, k) for k in range(count)) + b"\n", "vw")


@few
@given(
    st.lists(st.text("ab0é汉^", max_size=40), min_size=1, max_size=6),
    st.sampled_from(["", ":2", ":x", ":", "|"]),
)
@example(["a" * 70, "b"], ":2")
def test_names_of_every_length(names: list[str], value: str) -> None:
    check(f"1 |a {' '.join(name + value for name in names)}\n".encode(), "vw")


@pytest.mark.parametrize("kind", ["svmlight", "vw"])
def test_lines_that_are_not_utf8(kind: str) -> None:
    check(b"1 |a 3:1\n1 |\xff 4:1\n1 |\xc3\xa9 5:1\n".replace(b"|", b"|" if kind == "vw" else b""), kind)


def test_more_digits_than_fit_a_word() -> None:
    values = (
        "1.123456789012345678901",
        "1.12345678901234567",
        "0.000000000000000000000001",
        "12345678.12345678",
    )
    for value in (
        *values,
        "1234567.123456789012",
        "0.1234567890123456789",
        "-0.3000000000000000166",
        "1e-23",
    ):
        check(f"1 3:{value} 4:1\n".encode(), "svmlight")


def test_a_weighted_namespace_has_its_weight_in_every_feature() -> None:
    hashed, *_ = parse(b"1 |a:0.5 1:0.5 2:3 b |c 1:0.5 b\n" + FURTHER, "vw")
    assert hashed.values.tolist() == [0.25, 1.5, 0.5, 0.5, 1.0]


def test_a_value_may_be_too_large_in_any_form() -> None:
    for value in ("123456789012345678.9", "12345678.1234567890e12", "1e18"):
        check(f"1 3:{value} 4:1\n".encode(), "svmlight")
    assert parse(b"1 3:-900000000000000000 4:1\n" + FURTHER, "svmlight")[2] == [[0, lines.TOO_LARGE, 2]]
