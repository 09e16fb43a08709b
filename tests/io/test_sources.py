"""Bytes from files and pipes, plain or compressed: whole, or an error that names the file."""

import builtins
import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.io import sources
from steelyard.io.errors import InputError

TEXT = b"".join(b"%d |a b%d\n" % (k % 2, k * k) for k in range(3000))


def zstd(data: bytes) -> bytes:
    packed: bytes = pyarrow.Codec("zstd").compress(data, asbytes=True)
    return packed


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstd,
}
COMPRESSED = [name for name in PACKED if name != "plain"]


def content(path: Path | str, count: int = 1 << 20) -> bytes:
    with sources.open_source(str(path)) as source:
        return b"".join(iter(lambda: source.read(count), b""))


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes, int], None]]:
    """Make these bytes the standard input, written so many at a time."""
    made = []

    def pipe(data: bytes, at_a_time: int = 1 << 16) -> None:
        reading, writing = os.pipe()

        def write() -> None:
            for start in range(0, len(data), at_a_time):
                os.write(writing, data[start : start + at_a_time])
            os.close(writing)

        made.append(io.TextIOWrapper(os.fdopen(reading, "rb")))
        monkeypatch.setattr(sys, "stdin", made[-1])
        threading.Thread(target=write, daemon=True).start()

    yield pipe
    for file in made:
        file.close()


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("name", ["text", "text.vw", "text.gz", "text.xz"])
def test_the_first_bytes_say_how_a_file_is_compressed(tmp_path: Path, packing: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(PACKED[packing](TEXT))
    assert content(path) == TEXT
    assert content(path, 7) == TEXT


@pytest.mark.parametrize("packing", COMPRESSED)
def test_several_members_one_after_another(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(PACKED[packing](TEXT) + PACKED[packing](b"") + PACKED[packing](TEXT))
    assert content(path) == TEXT + TEXT


@pytest.mark.parametrize("packing", PACKED)
def test_nothing_compressed_is_nothing(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(PACKED[packing](b""))
    assert content(path) == b""


@pytest.mark.parametrize("packing", COMPRESSED)
@pytest.mark.parametrize("part", [0.2, 0.5, 0.99])
def test_a_file_cut_off_is_an_error(tmp_path: Path, packing: str, part: float) -> None:
    path = tmp_path / "cut"
    packed = PACKED[packing](os.urandom(1 << 12) + TEXT)
    path.write_bytes(packed[: int(part * len(packed))])
    with pytest.raises(InputError, match=rf"^{path}: cannot be read to its end.*damaged or cut off"):
        content(path)


@pytest.mark.parametrize("packing", ["gz", "xz", "bz2"])
def test_a_damaged_file_is_an_error(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "damaged"
    packed = bytearray(PACKED[packing](os.urandom(1 << 14)))
    packed[len(packed) // 2] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(InputError, match=f"^{path}: cannot be read"):
        content(path)


@pytest.mark.parametrize("text", [b"BZh,label\n1,0\n", b"BZh91\n", b"BZ", b"\x1f", b"(", b"1"])
def test_text_that_looks_a_little_compressed(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(text)
    assert content(path) == text


def test_zstandard_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.zst"
    path.write_bytes(zstd(TEXT))
    imported = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pyarrow":
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"zstd needs pyarrow: pip install"):
        content(path)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["peek", "read", "into"]), st.integers(0, 40)), max_size=8))
def test_what_is_peeked_at_is_read_again(steps: list[tuple[str, int]]) -> None:
    data = bytes(range(100))
    source = sources.Source.__new__(sources.Source)
    source.path, source._regular, source._ahead = "text", False, b""
    source._stream = io.BytesIO(data)
    place = 0
    for step, count in steps:
        expected = data[place : place + count]
        if step == "peek":
            assert source.peek(count) == expected
            continue
        if step == "read":
            assert source.read(count) == expected
        else:
            room = bytearray(count)
            assert room[: source.read_into(memoryview(room))] == expected
        place += len(expected)


@pytest.mark.parametrize("packing", PACKED)
def test_reading_to_where_it_is_wanted(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(PACKED[packing](TEXT))
    with sources.open_source(str(path)) as source:
        room = memoryview(bytearray(len(TEXT) + 9))
        assert source.read_into(room[:1000]) == 1000
        assert source.peek(10) == TEXT[1000:1010]
        assert source.read_into(room[1000:]) == len(TEXT) - 1000
        assert room[: len(TEXT)] == TEXT
        assert source.read_into(room) == 0


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("at_a_time", [1, 5, 1 << 16])
def test_standard_input(piped: Callable[[bytes, int], None], packing: str, at_a_time: int) -> None:
    text = TEXT[:2000]
    piped(PACKED[packing](text), at_a_time)
    with sources.open_source("-") as source:
        assert source.path == "standard input"
        assert source.size is None
        assert source.peek(100) == text[:100]
    with sources.open_source("-") as source:
        assert source.peek(50) == text[:50]
        assert source.read(10) == text[:10]
    assert content("-") == text[10:]


def test_another_standard_input_is_another_source(piped: Callable[[bytes, int], None]) -> None:
    piped(b"one", 9)
    with sources.open_source("-") as source:
        assert source.peek(1)
    piped(b"two", 9)
    assert content("-") == b"two"


def test_standard_input_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"1 |a b\n1 |a b\n")
    os.set_blocking(reading, False)
    with io.TextIOWrapper(os.fdopen(reading, "rb")) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with (
            sources.open_source("-") as source,
            pytest.raises(InputError, match=r"non-blocking.*through cat"),
        ):
            source.read(100)
    os.close(writing)


@pytest.mark.parametrize("packing", ["plain", "gz"])
def test_a_named_pipe_loses_nothing(tmp_path: Path, packing: str) -> None:
    """It is looked at, and looked at again, before it is read: it must not be opened anew each time."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(PACKED[packing](TEXT),), daemon=True).start()
    for count in (20, 10_000):
        with sources.open_source(str(path)) as source:
            assert source.peek(count) == TEXT[:count]
    assert content(path) == TEXT


def test_which_files_are_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    for name in ("b.vw", "a.vw", "c.svm", "odd[1].vw", "deep/d.vw"):
        Path(name).touch()
    assert sources.expand(["*.vw"]) == ["a.vw", "b.vw", "odd[1].vw"]
    assert sources.expand(["c.svm", "[ab].vw", "-"]) == ["c.svm", "a.vw", "b.vw", "-"]
    assert sources.expand(["odd[1].vw"]) == ["odd[1].vw"]
    assert sources.expand(["**/d.vw"]) == ["deep/d.vw"]
    assert sources.expand([Path("b.vw"), "b.vw"]) == ["b.vw", "b.vw"]


@pytest.mark.parametrize(
    ("given_paths", "what"),
    [
        ([], "no input: name a file"),
        (["none.vw"], "^none.vw: there is no such file"),
        (["*.none"], r"^\*\.none: no file matches this pattern.* the shell found none either"),
        (["nowhere/a.vw"], "^nowhere/a.vw: there is no such file, and no folder 'nowhere'"),
        (["-", "-"], "standard input .* only once"),
        (["a\0b"], "there is no such file"),
    ],
)
def test_what_cannot_be_meant(given_paths: list[str], what: str) -> None:
    with pytest.raises(InputError, match=what):
        sources.expand(given_paths)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"^{tmp_path}: is a folder; .*{tmp_path}/\*"):
        sources.expand([tmp_path])
    with pytest.raises(InputError, match=f"^{tmp_path}: Is a directory"):
        sources.Source(str(tmp_path))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.touch(mode=0)

    def denied(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    if os.geteuid() == 0:  # who may read everything
        monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match=f"^{path}: Permission denied"):
        content(path)


@pytest.mark.parametrize("change", ["grows", "shrinks"])
@pytest.mark.parametrize("packing", ["plain", "gz"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, change: str, packing: str) -> None:
    path = tmp_path / "log"
    noise = os.urandom(1 << 18)
    packed = PACKED[packing](noise)
    path.write_bytes(packed)
    with sources.open_source(str(path)) as source:
        assert source.read(1 << 16) == noise[: 1 << 16]
        if change == "grows":
            with path.open("ab") as file:
                file.write(PACKED[packing](b"more"))
        else:
            os.truncate(path, len(packed) // 2)
        with pytest.raises(InputError, match=f"^{path}: (has changed while it was read|cannot be read)"):
            source.read(1 << 20)


def test_position_and_size(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(TEXT)
    with sources.open_source(str(path)) as source:
        assert (source.size, source.position) == (len(TEXT), 0)
        source.read(100)
        assert source.position == 100
        source.read(len(TEXT))
        assert source.position == len(TEXT)


def test_no_device_is_left_open() -> None:
    assert content("/dev/null") == content("/dev/null") == b""
    assert not [key for key in sources._kept if key[0] == "/dev/null"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("titanik.csv", "titanic.csv"),
        ("titanik.model", "Titanic.model"),
        ("titanic.json", "titanic.jsonl.gz"),
        ("titanic.vw", "Titanic.model"),
        ("titanic", "Titanic.model"),
        ("ships.csv", None),
    ],
)
def test_a_missing_file_is_like_one_of_the_same_ending(given: str, meant: str | None, tmp_path: Path) -> None:
    for name in ("titanic.csv", "Titanic.model", "titanic.jsonl.gz", "other.csv"):
        (tmp_path / name).touch()
    hint = f"; did you mean {str(tmp_path / meant)!r}?" if meant else ""
    assert (
        sources.describe_missing(str(tmp_path / given)) == f"{tmp_path / given}: there is no such file{hint}"
    )
