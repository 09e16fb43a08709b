"""Arrow files, streams and Parquet; whole, piped, compressed, cut off, damaged, of other kinds."""

import gzip
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import losses
from steelyard.io import arrow_arrays, sources
from steelyard.io.arrow_csr import KEY, Header, read_header
from steelyard.io.arrow_reader import ArrowReader, peek_batches, read_schema
from steelyard.io.convert import convert
from steelyard.io.errors import InputError
from steelyard.io.stream import Stream
from tests.io.chunks import FEATURES, chunked, random_rows, rows_of, same, some_names, stream

pa = pytest.importorskip("pyarrow")
ROWS = random_rows(200, seed=1)


@pytest.fixture
def arrow(tmp_path: Path) -> Path:
    path = tmp_path / "rows.arrow"
    convert(chunked(ROWS, 50), path, features=FEATURES, names=some_names(), reading={"format": "vw"})
    return path


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    convert(chunked(ROWS, 50), path, features=FEATURES, names=some_names(), reading={"format": "vw"})
    return path


@pytest.fixture
def ipc_stream(arrow: Path, tmp_path: Path) -> Path:
    table = pa.ipc.open_file(arrow).read_all()
    path = tmp_path / "rows.arrows"
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=60)
    return path


@pytest.mark.parametrize("kind", ["arrow", "parquet", "ipc_stream"])
def test_headers_are_read_without_the_rows(kind: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(kind)
    assert header_of(str(path)) == Header(FEATURES, {"format": "vw"})


def test_headers_of_others(tmp_path: Path) -> None:
    path = tmp_path / "plain.parquet"
    pa.parquet.write_table(pa.table({"a": [1]}), path)
    assert header_of(str(path)) is None
    path.write_bytes(b"PAR1, or so it says")
    with pytest.raises(InputError, match=r"plain\.parquet: cannot be read, it seems damaged or cut off"):
        header_of(str(path))


@pytest.mark.parametrize("kind", ["arrow", "parquet", "ipc_stream"])
@pytest.mark.parametrize("size", [1, 3000, 1 << 21])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_position_reaches_the_end(kind: str, size: int, threads: int, request: Any) -> None:
    path = request.getfixturevalue(kind)
    chunks = stream(path, block_size=size, threads=threads)
    positions = []
    rows = []
    for parsed in chunks:
        positions.append(chunks.position)
        rows += rows_of([parsed])
    assert same(rows, ROWS)
    assert chunks.rows == len(ROWS)
    assert positions == sorted(positions)
    assert path.stat().st_size - positions[-1] <= 8  # what says that a stream ends


@pytest.mark.parametrize("kind", ["arrow", "ipc_stream"])
def test_ipc_may_be_compressed_and_piped(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = request.getfixturevalue(kind)
    packed = tmp_path / "rows.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert same(rows_of(stream(packed, block_size=3000)), ROWS)
    assert header_of(str(packed)) is not None
    piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(path.read_bytes())))
    monkeypatch.setattr(sys, "stdin", piped)
    assert header_of("-") == Header(FEATURES, {"format": "vw"})
    assert same(rows_of(stream("-")), ROWS)


def piped(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))


@pytest.mark.parametrize("kind", ["arrow", "ipc_stream"])
@pytest.mark.parametrize("size", [1, 3000, 1 << 22])
def test_a_look_at_what_is_piped(
    kind: str, size: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little is looked at first: a whole batch is found, and all stays to be read."""
    piped(request.getfixturevalue(kind).read_bytes(), monkeypatch)
    with sources.open_source("-") as source:
        first = next(peek_batches(source, size))
        assert first.rows.num_rows > 0
    assert same(rows_of(stream("-")), ROWS)


def test_a_look_at_what_has_no_rows_or_is_cut_off(
    ipc_stream: Path, parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, pa.schema([("a", pa.int64())])).close()
    for text, what in (
        (ipc_stream.read_bytes()[:3000], "standard input: cannot be read, it seems damaged or cut off"),
        (parquet.read_bytes(), "standard input: Parquet is read from its end"),
    ):
        piped(text, monkeypatch)
        with sources.open_source("-") as source, pytest.raises(InputError, match=what):
            list(peek_batches(source, 1 << 22))
    piped(sink.getvalue().to_pybytes(), monkeypatch)
    with sources.open_source("-") as source:
        assert list(peek_batches(source, 1 << 22)) == []


def test_parquet_may_not(parquet: Path, tmp_path: Path) -> None:
    packed = tmp_path / "rows.gz"
    packed.write_bytes(gzip.compress(parquet.read_bytes()))
    with pytest.raises(InputError, match=r"rows\.gz: Parquet is read from its end"):
        list(stream(packed))


@pytest.mark.parametrize("kind", ["arrow", "parquet", "ipc_stream"])
def test_a_file_that_is_cut_off(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    whole = request.getfixturevalue(kind).read_bytes()
    path = tmp_path / "cut"
    for part in (0.1, 0.5, 0.9, 0.99):
        path.write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(InputError, match="cut: "):
            list(stream(path))
    path.write_bytes(gzip.compress(whole)[:-10])
    with pytest.raises(InputError, match="cut: "):
        list(stream(path))


def test_a_piped_file_that_is_cut_off_behind_its_rows(arrow: Path, tmp_path: Path) -> None:
    whole = arrow.read_bytes()
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(whole[:-6]))
    with pytest.raises(InputError, match=r"cut\.gz: is cut off"):
        list(stream(path))


@pytest.mark.parametrize("kind", ["arrow", "parquet", "ipc_stream"])
def test_damage_is_an_error_or_harmless(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Whatever byte is wrong: no crash, no index out of range, nothing that is not finite."""
    whole = bytearray(request.getfixturevalue(kind).read_bytes())
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged"
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        place = int(rng.integers(8, len(whole)))
        damaged[place : place + 4] = rng.bytes(4)
        path.write_bytes(damaged)
        try:
            chunks = [parsed.examples for parsed in stream(path)]
        except InputError:
            refused += 1
            continue
        for examples in chunks:
            assert np.all((examples.indices >= 0) & (examples.indices < FEATURES))
            assert np.isfinite(examples.values).all()
            assert np.isfinite(examples.sample_weight).all()
            assert examples.indptr[-1] == len(examples.indices) == len(examples.values)
    assert refused > 20


def test_files_of_other_kinds(tmp_path: Path) -> None:
    path = tmp_path / "text.arrow"
    for content in (b"", b"1 | a b c", b"FEA1 and so on"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"text\.arrow: neither Arrow IPC nor Parquet"):
            list(stream(path))
        with pytest.raises(InputError, match="neither Arrow"):
            header_of(str(path))


def test_a_file_for_another_model(arrow: Path) -> None:
    with pytest.raises(InputError, match=r"was converted for 64 features, the model has 65; .* \(bits=6\)"):
        list(stream(arrow, features=65))
    convert(chunked(ROWS, 50), arrow, features=63)
    with pytest.raises(InputError, match="for 63 features, the model has 64; use as many, or convert"):
        list(stream(arrow))


def test_a_file_from_the_future(arrow: Path) -> None:
    table = pa.ipc.open_file(arrow).read_all().replace_schema_metadata({KEY: b'{"version": 9}'})
    with pa.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match="written by a later steelyard"):
        list(stream(arrow))


def test_offsets_that_lead_outside(tmp_path: Path) -> None:
    """Of lists and of strings: changed in the file, for pyarrow does not look at them when it reads."""
    path = tmp_path / "wrong.arrow"
    batch = pa.record_batch(
        [["ab", "c", "", "d"], [[1, 2], [3], [], [4]], [[1.0, 2.0], [3.0], [], [4.0]]],
        ["tag", "indices", "values"],
    )
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
    whole = path.read_bytes()
    right = np.array([0, 2, 3, 3, 4], np.int32).tobytes()
    assert whole.count(right) == 3
    for wrong in ([0, 2, 1, 3, 4], [0, 2, 3, 3, 9], [-1, 2, 3, 3, 4]):
        parts = whole.split(right)
        for place in range(3):
            joints = [right] * 3
            joints[place] = np.array(wrong, np.int32).tobytes()
            path.write_bytes(
                parts[0] + b"".join(joint + part for joint, part in zip(joints, parts[1:], strict=True))
            )
            with pytest.raises(InputError, match=r"wrong\.arrow: "):
                list(stream(path))


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("pyarrow")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"rows\.arrow: .*need pyarrow: pip install \"steelyard\[arrow\]\""):
        arrow_arrays.import_pyarrow("rows.arrow")


def test_pyarrow_is_imported_when_it_is_needed() -> None:
    code = "import sys, steelyard.io.arrow_reader, steelyard.io.convert; assert 'pyarrow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_a_label_that_the_loss_does_not_take_is_named_by_its_row(
    kind: str, request: pytest.FixtureRequest
) -> None:
    """Also behind rows that were left out for other reasons."""
    path = request.getfixturevalue(kind)
    table = pa.table(
        {"label": [1.0, -1.0, 5.0, 1.0, 7.0], "indices": [[1], [99], [2], [3], [4]], "values": [[1.0]] * 5}
    )
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    options: dict[str, Any] = {"loss": losses.by_name("logistic"), "skip": True, "block_size": 1 << 20}
    chunks = Stream([path], ArrowReader(FEATURES), **options)
    assert [row.label for row in rows_of(chunks)] == [1.0, 1.0]
    assert [problem.line for problem in chunks.problems] == [2, 3, 5]
    assert str(chunks.problems[1]).startswith(f"{path}, row 3: the label 5 does not suit logistic loss")


def test_no_rows_are_as_rows_are(arrow: Path) -> None:
    reader = ArrowReader(FEATURES)
    none = reader.parse(reader.nothing())
    assert len(none.examples) == none.lines == 0
    some = next(iter(stream(arrow, block_size=1 << 20)))
    both = [(*rows.arrays[:3], *rows.targets) for rows in (none.examples, some.examples)]
    for ours, theirs in zip(*both, strict=True):
        assert ours.dtype == theirs.dtype


def test_peeking_takes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(b"0123456789")
    with sources.open_source(str(path)) as source:
        assert source.peek(6) == b"012345"
        assert source.peek(2) == b"01"
        assert source.peek(8) == b"01234567"
        assert source.read(3) == b"012"
        assert source.peek(100) == b"3456789"
        assert source.read(100) == b"3456789"


@pytest.mark.soak
@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
def test_memory_does_not_grow_with_the_file(suffix: str, tmp_path: Path) -> None:
    """A gigabyte of rows takes hardly more than a tenth of them, which fill several batches too."""
    path = tmp_path / f"large{suffix}"
    code = """
import resource, sys
import numpy as np
from steelyard.examples import Examples
from steelyard.io.arrow_reader import ArrowReader
from steelyard.io.convert import convert
from steelyard.io.stream import Stream

rng = np.random.default_rng(0)
rows, width = 1000, 100
def chunk():
    indices = np.tile(np.arange(width, dtype=np.int32), rows)
    values = rng.normal(size=rows * width).astype(np.float32)
    return Examples(np.arange(rows + 1) * width, indices, values, False, 128, np.ones(rows), np.ones(rows))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
convert((chunk() for _ in range(130)), sys.argv[1], features=128)
list(Stream([sys.argv[1]], ArrowReader(128), threads=2))
before = peak()
convert((chunk() for _ in range(1300)), sys.argv[1], features=128)
written = peak() - before
if not sys.argv[1].endswith(".arrow"):  # what is mapped counts as the process's own, but can go at any time
    assert sum(len(part.examples) for part in Stream([sys.argv[1]], ArrowReader(128), threads=2)) == 1_300_000
grown = peak() - before
# the allocator moves the peak by some tens of MB either way; rows that were kept would be a thousand
assert grown < 100, (before, written, grown)
"""
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert path.stat().st_size > 4e8


def header_of(path: str) -> Header | None:
    with sources.open_source(path) as source:
        return read_header(read_schema(source).metadata, path)
