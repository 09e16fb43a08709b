"""Any bytes through a stream: rows, or an InputError that names the file; the same in any blocks."""

import bz2
import gzip
import lzma
import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from steelyard import losses
from steelyard.features import Names
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from tests.text import mutation

KINDS = pytest.mark.parametrize("kind", ["vw", "svmlight"])
quick = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SOAK_SECONDS = float(os.environ.get("STEELYARD_SOAK_SECONDS", "60"))
NAMELESS = "an error that does not name its file"
any_bytes = st.one_of(
    st.binary(max_size=200),
    st.text("1 |:'#.-e\té\r\nqid", max_size=200).map(str.encode),
    st.lists(st.sampled_from([b"1 |a b\n", b"1 1:2\n", b"\xff\n", b"|", b"\n", b"\0"]), max_size=30).map(
        b"".join
    ),
)


def all_of(
    path: Path, kind: str, size: int, threads: int, *, skip: bool, loss: Any = None
) -> tuple[Any, ...] | str:
    """All that comes out, as plain things, or what is said instead."""
    crossed = ("a*b", "a*a") if kind == "vw" else ()
    names = Names(1 << 6)
    reader = InputSpec(kind, bits=6, interactions=crossed).reader(names)
    stream = Stream([path], reader, names=names, threads=threads, skip=skip, block_size=size, loss=loss)
    try:
        chunks = [parsed.examples for parsed in stream]
    except InputError as error:
        said = str(error)
        return said if said.startswith(str(path)) else NAMELESS
    for chunk in chunks:
        assert np.isfinite(chunk.values).all()
        assert (chunk.sample_weight >= 0.0).all()
        assert ((chunk.indices >= 0) & (chunk.indices < 1 << 6)).all()
    columns = [
        b"".join(getattr(chunk, part).tobytes() for chunk in chunks)
        for part in ("labels", "sample_weight", "indices", "values")
    ]
    return (
        columns,
        stream.rows,
        stream.skipped,
        [str(problem) for problem in stream.problems],
        names.by_index(),
    )


def check(path: Path, kind: str) -> None:
    hinge = losses.by_name("hinge")
    for skip in (True, False):
        expected = all_of(path, kind, 1 << 21, 1, skip=skip, loss=hinge)
        assert expected != NAMELESS
        for size, threads in ((1, 1), (17, 3)):
            assert all_of(path, kind, size, threads, skip=skip, loss=hinge) == expected


@KINDS
@quick
@given(any_bytes)
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"\xef\xbb")
@example(b"1 |a b\r")
@example(b"1" * 3000)
def test_any_bytes(tmp_path: Path, kind: str, data: bytes) -> None:
    path = tmp_path / "any"
    path.write_bytes(data)
    check(path, kind)


@quick
@given(
    st.sampled_from([gzip.compress, lzma.compress, bz2.compress, bytes]),
    st.binary(max_size=60),
    st.integers(0, 60),
    st.integers(0, 255),
)
def test_damaged_compressed_files(tmp_path: Path, pack: Any, tail: bytes, place: int, byte: int) -> None:
    path = tmp_path / "packed"
    data = bytearray(pack(b"1 |a b\n" * 50) + tail)
    data[place % len(data)] = byte
    path.write_bytes(data)
    assert all_of(path, "vw", 1 << 21, 1, skip=True) != NAMELESS


@pytest.mark.soak
@pytest.mark.parametrize("suffix", ["vw", "svm"])
def test_damaged_files_for_long(tmp_path: Path, suffix: str) -> None:
    path, corpus, draw = tmp_path / "damaged", mutation.seeds(suffix), random.Random(time.time_ns())
    ends = time.monotonic() + SOAK_SECONDS
    while time.monotonic() < ends:
        path.write_bytes(mutation.mutated(draw.choice(corpus), corpus, draw).removesuffix(b"\n"))
        try:
            check(path, "vw" if suffix == "vw" else "svmlight")
        except Exception as error:
            raise AssertionError(f"with {path.read_bytes()!r}") from error
