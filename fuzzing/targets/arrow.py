"""Arrow and Parquet files through `convert`: any bytes are refused, or converted."""

from pathlib import Path
from random import Random

import pyarrow as pa
from pyarrow import feather, parquet

from fuzzing.commands import assert_no_rest, must, tried


class ArrowFiles:
    """The first byte of an input says whether it is Parquet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        table = pa.table(
            {
                "label": ["a", "b"] * 20,
                "number": [float(i) for i in range(40)],
                "city": pa.array(["x", "yy", "zzz", None] * 10).dictionary_encode(),
                "text": [f"hello world {i} é" for i in range(40)],
                "whole": list(range(40)),
                "list": pa.array([[1.0, 2.0], [], None, [3.0]] * 10),
            }
        )
        feather.write_feather(table, folder / "plain.arrow", compression="uncompressed")
        feather.write_feather(table, folder / "lz4.arrow", compression="lz4")
        parquet.write_table(table, folder / "table.parquet")
        with pa.ipc.new_stream(str(folder / "stream.arrow"), table.schema) as into:
            into.write_table(table)
        must(
            "convert", folder / "plain.arrow", "-o", folder / "sparse.arrow", "--bits", 10, "--ignore", "list"
        )
        self._sources = [
            bytes([path.suffix == ".parquet"]) + path.read_bytes() for path in sorted(folder.glob("*.*"))
        ]

    def draw(self, chance: Random) -> bytes:
        data = bytearray(chance.choice(self._sources))
        for _ in range(chance.choice([1, 1, 2, 4, 16])):
            data[chance.randrange(1, len(data))] = chance.choice([0, 255, 1, 127, 128, chance.randrange(256)])
        if chance.random() < 0.1:
            del data[chance.randrange(1, len(data)) :]
        return bytes(data)

    def check(self, data: bytes) -> int:
        bad = self._folder / ("bad.parquet" if data[:1] == b"\1" else "bad.arrow")
        bad.write_bytes(data[1:])
        output = self._folder / "output.arrow"
        done = tried("convert", bad, "-o", output, "--bits", 10)
        assert output.exists() == done
        assert_no_rest(self._folder)
        output.unlink(missing_ok=True)
        return 1


TARGETS = {"arrow": ArrowFiles}
