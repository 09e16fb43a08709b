"""What a file of ready-made rows says of itself: how wide a model it is made for, how it was read, the names.

The header is JSON in the metadata of the schema, which stands at a file's beginning. Names are known
only once all rows are written, so they come last: in the metadata of a last, empty batch of an IPC
file, in the footer of a Parquet file. They are a compressed Arrow table in themselves, in base 64, as
other programs take metadata for text.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.features.names import Candidates, Names
from steelyard.io import extras
from steelyard.io.errors import InputError
from steelyard.io.parsed_block import Compose

KEY = b"steelyard"
NAMES_KEY = b"steelyard-names"
VERSION = 1


@dataclass(frozen=True)
class Header:
    """Rows with indices below `features`, and whatever the reader of the original wants remembered."""

    features: int
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bits(self) -> int | None:
        """The features as a power of two, if they are one."""
        bits = max(self.features.bit_length() - 1, 0)
        return bits if self.features == 1 << bits else None

    def metadata(self) -> dict[bytes, bytes]:
        """For a schema."""
        said = {"version": VERSION, "features": self.features, "bits": self.bits, "reading": self.reading}
        return {KEY: json.dumps(said, sort_keys=True).encode()}


def header(metadata: Mapping[bytes, bytes] | None, path: str) -> Header | None:
    """From a schema's metadata; None for a table that is not of our making."""
    text = (metadata or {}).get(KEY)
    if text is None:
        return None
    try:
        said = json.loads(text)
        version = int(said["version"])
        if version <= VERSION:
            return Header(_whole(said["features"]), dict(said["reading"]))
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: its header is damaged; convert the original again") from None
    raise InputError(
        f"{path}: was written by a later steelyard (format {version}, this one reads up to {VERSION}); "
        "install a newer one, or convert the original again"
    )


def _whole(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(number)
    return number


def packed_names(names: Names) -> bytes:
    """Every key that was met, the named ones first and with their names."""
    pyarrow = extras.pyarrow("names")
    arrays = names.arrays()
    named = np.searchsorted(arrays["names_first"], arrays["names_index"])
    first, lengths = arrays["names_first_key"], arrays["names_length"]
    others = np.delete(first, named), arrays["names_second_key"], arrays["names_further_key"]
    keys = np.concatenate([first[named], *others])
    offsets = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1 : len(lengths) + 1])
    offsets[len(lengths) + 1 :] = offsets[len(lengths)]
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(arrays["names_text"])]
    texts = pyarrow.Array.from_buffers(pyarrow.large_binary(), len(keys), buffers)
    batch = pyarrow.record_batch([pyarrow.array(keys), texts], ["key", "name"])
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return base64.b64encode(sink.getvalue())


@dataclass(frozen=True)
class StoredNames:
    """Keys in the order in which they are to be admitted; the first have names, the rest an empty one."""

    keys: NDArray[np.int64]
    names: list[bytes]

    def candidates(self, features: int) -> Candidates:
        """As if a chunk had met them all. An index is the low bits of a key."""
        places = np.arange(len(self.keys), dtype=np.int32).reshape(-1, 1)
        return Candidates(self.keys & (features - 1), self.keys, places)

    def compose(self) -> Compose:
        def compose(places: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
            chosen = [self.names[place] for place in places[:, 0].tolist()]
            lengths = np.array([len(name) for name in chosen], np.int32)
            return np.frombuffer(b"".join(chosen), np.uint8), lengths

        return compose


def stored_names(packed: bytes, path: str) -> StoredNames:
    """What `packed_names` has packed."""
    pyarrow = extras.pyarrow(path)
    try:
        with pyarrow.ipc.open_stream(base64.b64decode(packed, validate=True)) as reader:
            table = reader.read_all()
        table.validate(full=True)
        keys = table["key"].cast(pyarrow.int64()).to_numpy()
        return StoredNames(keys, table["name"].to_pylist())
    except (KeyError, TypeError, ValueError, OSError, pyarrow.ArrowException):
        raise InputError(f"{path}: its names are damaged; convert the original again") from None
