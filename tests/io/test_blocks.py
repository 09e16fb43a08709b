"""Blocks hold whole lines, and together all of them, whatever their size."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard._buffer_pool import BufferPool
from steelyard.io import blocks
from steelyard.io.blocks import Block
from steelyard.io.errors import InputError
from steelyard.io.sources import Source


def cut(data: bytes, size: int, folder: Path) -> list[Block]:
    path = folder / "text"
    path.write_bytes(data)
    source = Source(str(path))
    try:
        return list(blocks.cut(source, size, BufferPool()))
    finally:
        source.close()


@settings(deadline=None)
@given(
    st.lists(st.text("ab 1\r", max_size=9).map(str.encode), max_size=12),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 3, 5, 8, 64]),
)
def test_lines_stay_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], mark: bool, ended: bool, size: int
) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    whole = data if data.endswith(b"\n") or not data else data + b"\n"
    given_data = b"\xef\xbb\xbf" * mark + data
    found = cut(given_data, size, tmp_path_factory.getbasetemp())
    assert b"".join(block.text.tobytes() for block in found) == whole
    assert all(block.text.tobytes().endswith(b"\n") for block in found)
    positions = [block.position for block in found]
    assert positions == sorted(positions)
    assert not positions or positions[-1] == len(given_data)


def test_blocks_have_about_the_size_asked_for(tmp_path: Path) -> None:
    found = cut(b"1234567\n" * 1000, 800, tmp_path)
    assert {len(block.text) for block in found[:-1]} == {800}
    assert {block.path for block in found} == {str(tmp_path / "text")}


@pytest.mark.parametrize("behind", [0, 1, 4095, 4096, 4097, 9000])
def test_the_last_end_of_a_line_is_found_however_far_back(behind: int) -> None:
    text = np.frombuffer(b"a\nbc\n" + b"x" * behind, np.uint8)
    assert blocks.last_line_end(text, 0) == 5
    assert blocks.last_line_end(text, 4) == 5
    assert blocks.last_line_end(text, 5) == 0


def test_a_mark_elsewhere_stays(tmp_path: Path) -> None:
    text = b"a\n\xef\xbb\xbfb\n"
    assert cut(text, 100, tmp_path)[0].text.tobytes() == text


def test_arrays_are_read_only(tmp_path: Path) -> None:
    assert not cut(b"a\n", 10, tmp_path)[0].text.flags.writeable
    assert not blocks.EMPTY.text.flags.writeable
    assert len(blocks.EMPTY.text) == 0


@pytest.mark.parametrize("size", [1, 7, 16, 1000])
def test_a_line_without_an_end(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST_LINE", 1 << 10)
    long = b"short\n" + b"x" * 1000
    assert b"".join(block.text.tobytes() for block in cut(long, size, tmp_path)) == long + b"\n"
    with pytest.raises(InputError, match=rf"^{tmp_path}/text: a line, after the first 6 bytes.*right file"):
        cut(b"short\n" + b"x" * 5000, size, tmp_path)


def test_a_line_of_a_hundred_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    source = Source(str(path))
    with pytest.raises(InputError, match="longer than 64 MB"):
        list(blocks.cut(source, 1 << 22, BufferPool()))
    source.close()
