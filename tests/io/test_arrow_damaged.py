"""Arrow and Parquet that was damaged or made up is refused before any of its buffers is followed."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.io import arrow_arrays
from steelyard.io.errors import InputError
from steelyard.io.sources import open_source
from tests.cli.running import run

pa = pytest.importorskip("pyarrow")
from click.testing import CliRunner  # noqa: E402
from pyarrow import feather, parquet  # noqa: E402

from steelyard.cli import main  # noqa: E402
from steelyard.io.arrow_reader import peek_batches, read_batches  # noqa: E402


def texts(offsets: list[int], data: bytes = b"abcdef") -> Any:
    """An array of texts as somebody might forge it."""
    places = pa.py_buffer(b"".join(place.to_bytes(4, "little", signed=True) for place in offsets))
    return pa.StringArray.from_buffers(len(offsets) - 1, places, pa.py_buffer(data))


FORGED = {
    "far beyond the end": lambda: texts([0, 2, 1 << 30, 6]),
    "backwards": lambda: texts([0, 5, 2, 6]),
    "negative": lambda: texts([0, -7, 3, 6]),
    "no text": lambda: texts([0, 2, 4, 6], b"\xff\xfe\xfd\xfc\xfb\xfa"),
    "beyond the dictionary": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1 << 20, 0], pa.int32()), pa.array(["x", "y"]), safe=False
    ),
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_forged_arrays(forged: str, kind: str, tmp_path: Path) -> None:
    batch = pa.record_batch({"label": [1.0, -1.0, 1.0], "text": FORGED[forged]()})
    path = tmp_path / "rows.arrow"
    writer = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with pa.OSFile(str(path), "wb") as file, writer(file, batch.schema) as into:
        into.write_batch(batch)
    for read in (read_batches, peek_batches):
        with open_source(str(path)) as source, pytest.raises(InputError, match="seems damaged"):
            list(read(source, 1 << 20))


@pytest.mark.parametrize("offsets", [[-1, 2], [0, 7], [0, 4, 2]])
def test_offsets_in_memory_are_looked_at_too(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="its offsets lead outside"):
        arrow_arrays._check_offsets(np.array(offsets), 6)


def test_mutated_files_end_well_or_with_a_reason(tmp_path: Path) -> None:
    table = pa.table({
        "label": ["a", "b"] * 20,
        "number": [float(row) for row in range(40)],
        "city": pa.array(["x", "yy", "zzz", None] * 10).dictionary_encode(),
        "text": [f"hello world {row} é" for row in range(40)],
    })  # fmt: skip
    feather.write_feather(table, tmp_path / "plain.arrow", compression="uncompressed")
    parquet.write_table(table, tmp_path / "table.parquet")
    run("convert", tmp_path / "plain.arrow", "-o", tmp_path / "sparse.arrow", "--bits", 10)
    chance = random.Random(0)
    codes = set()
    for _ in range(150):
        source = chance.choice(sorted(tmp_path.glob("[pst]*.*")))
        damaged = bytearray(source.read_bytes())
        for _ in range(chance.choice([1, 2, 8])):
            damaged[chance.randrange(len(damaged))] = chance.choice([0, 1, 127, 128, 255])
        bad = tmp_path / f"bad{source.suffix}"
        bad.write_bytes(damaged)
        result = CliRunner().invoke(
            main, ["convert", str(bad), "-o", str(tmp_path / "out.arrow"), "--bits", "10"]
        )
        assert result.exception is None or isinstance(result.exception, SystemExit)
        codes.add(result.exit_code)
        (tmp_path / "out.arrow").unlink(missing_ok=True)
    assert codes == {0, 1}
