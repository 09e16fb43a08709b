"""Converted files: every array back bit for bit, the same however the stream was cut, whole or not there."""

import hashlib
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from steelyard.examples import examples
from steelyard.features import Names
from steelyard.io import convert as module
from steelyard.io.blocks import ParsedBlock
from steelyard.io.convert import convert
from tests.io.chunks import FEATURES, chunk, chunked, random_rows, rows_of, same, some_names, stream

pytest.importorskip("pyarrow")
SUFFIXES = (".arrow", ".parquet")
ROWS = random_rows(300)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("value", ["float32", "float64"])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_round_trip(suffix: str, index: str, value: str, threads: int, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    count = convert(chunked(ROWS, 77, index=index, value=value), path, features=FEATURES)
    assert count == len(ROWS)
    read = list(stream(path, threads=threads, block_size=200))
    assert len(read) > 5
    assert {(str(part.examples.indices.dtype), str(part.examples.values.dtype)) for part in read} == {
        (index, value)
    }
    assert same(rows_of(read), ROWS)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_file_does_not_depend_on_the_chunks(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_SIZE", 1000)
    digests = set()
    for size in (1, 7, 100, 1000):
        path = tmp_path / f"rows{suffix}"
        convert(chunked(ROWS, size), path, features=FEATURES, names=some_names(), reading={"size": 1})
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1
    assert same(rows_of(stream(path)), ROWS)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_rows(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    assert convert([], path, features=FEATURES, names=some_names()) == 0
    assert rows_of(stream(path)) == []
    assert convert([chunk([])], path, features=FEATURES) == 0
    assert rows_of(stream(path)) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_that_a_stream_does_not_have_are_left_out(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    dense = examples(np.array([[1.0, 2.0], [0.0, -0.0]]), labels=[1.0, -1.0])
    convert([dense], path, features=2)
    (read,) = stream(path, features=2)
    assert read.examples.offsets is None
    assert read.tags is None
    assert read.examples.indices.tolist() == [0, 1, 0, 1]
    assert str(read.examples.values.tolist()) == "[1.0, 2.0, 0.0, -0.0]"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_survive(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    names = some_names()
    convert(chunked(ROWS, 100), path, features=FEATURES, names=names)
    again = Names(FEATURES, most=3)
    assert len(list(stream(path, names=again))) > 1
    assert again.collisions() == names.collisions()
    for name, array in names.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)


def test_a_converted_file_can_be_converted(tmp_path: Path) -> None:
    first, second = tmp_path / "first.arrow", tmp_path / "second.arrow"
    names = Names(FEATURES, most=3)
    convert(chunked(ROWS, 100), first, features=FEATURES, names=some_names())
    convert(stream(first, names=names), second, features=FEATURES, names=names)
    assert second.read_bytes() == first.read_bytes()


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"rows\.csv: the suffix says neither Arrow nor Parquet; known are"):
        convert([], tmp_path / "rows.csv", features=1)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        convert([], tmp_path / "nowhere" / "rows.arrow", features=1)


def test_chunks_of_one_stream_are_of_one_kind(tmp_path: Path) -> None:
    chunks = [chunk(ROWS[:9]), chunk(ROWS[9:], value="float64")]
    with pytest.raises(ValueError, match="differ in types"):
        convert(chunks, tmp_path / "rows.arrow", features=FEATURES)
    assert list(tmp_path.iterdir()) == []


def broken(rows: int) -> Iterator[ParsedBlock]:
    yield chunk(ROWS[:rows])
    raise RuntimeError("the source is gone")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_stream_that_breaks_off_leaves_the_old_file(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_SIZE", 100)
    path = tmp_path / f"rows{suffix}"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="the source is gone"):
        convert(broken(50), path, features=FEATURES)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("most", [1, 5_000])
def test_a_full_disk_leaves_the_old_file(
    suffix: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file may grow beyond a limit, which fails as a full disk does."""
    monkeypatch.setattr(module, "BATCH_SIZE", 1000)
    path = tmp_path / f"rows{suffix}"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        with pytest.raises(
            OSError, match=r"could not be written .* what was there before is unchanged"
        ) as error:
            convert(chunked(ROWS * 10, 100), path, features=FEATURES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(path) in str(error.value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
