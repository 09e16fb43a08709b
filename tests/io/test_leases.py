"""A file that another program cuts short while it is read: an error, not the end of the process."""

import os
import threading
from pathlib import Path

import pytest

from steelyard.io import arrow_reader, leases
from steelyard.io.convert import convert
from steelyard.io.errors import InputError
from tests.io.chunks import FEATURES, chunked, random_rows, rows_of, same, stream

pytest.importorskip("pyarrow")
ROWS = random_rows(200, seed=2)


@pytest.fixture
def arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In several batches."""
    path = tmp_path / "rows.arrow"
    monkeypatch.setattr("steelyard.io.convert.BATCH_SIZE", 2000)
    convert(chunked(ROWS, 50), path, features=FEATURES)
    return path


@pytest.fixture
def lent(arrow: Path) -> Path:
    """The same, where leases are to be had."""
    with arrow.open("rb") as file:
        if not leases.take(file.fileno()):
            pytest.skip("there are no leases to be had here")
    return arrow


def test_a_writer_waits(lent: Path) -> None:
    with lent.open("rb") as file:
        assert leases.take(file.fileno())
        assert not leases.wanted_back(file.fileno())
        with pytest.raises(BlockingIOError):
            os.open(lent, os.O_WRONLY | os.O_NONBLOCK)
        assert leases.wanted_back(file.fileno())
    os.close(os.open(lent, os.O_WRONLY | os.O_NONBLOCK))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_mapped_file_is_not_cut_short(lent: Path, threads: int) -> None:
    chunks = iter(stream(lent, block_size=1, threads=threads))
    next(chunks)
    with pytest.raises(BlockingIOError):  # one who would not wait has asked for the file by then
        os.open(lent, os.O_WRONLY | os.O_NONBLOCK)
    writer = threading.Thread(target=os.truncate, args=(lent, 100))
    writer.start()
    with pytest.raises(InputError, match="another program is about to change it; work on a copy"):
        list(chunks)
    writer.join()
    assert lent.stat().st_size == 100


@pytest.mark.parametrize("largest", [1 << 28, 1])
def test_without_a_lease(arrow: Path, monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    """It is read; or mapped if its batches are large."""
    monkeypatch.setattr(leases, "take", lambda _: False)
    monkeypatch.setattr(arrow_reader, "_LARGEST_READ", largest)
    assert same(rows_of(stream(arrow)), ROWS)


def test_a_file_that_is_read_may_be_cut_short(arrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "take", lambda _: False)
    chunks = iter(stream(arrow, block_size=1))
    next(chunks)
    os.truncate(arrow, 100)
    with pytest.raises(InputError, match="has changed while it was read"):
        list(chunks)


def test_other_systems_have_none(arrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "fcntl", None)
    with arrow.open("rb") as file:
        assert not leases.take(file.fileno())
