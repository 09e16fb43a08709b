"""What a file says of itself, and what is said of a file that says it wrongly."""

import base64
import json

import pytest

from steelyard.features import Names
from steelyard.io.arrow_csr import KEY, Header, pack_names, read_header, unpack_names
from steelyard.io.errors import InputError
from tests.io.chunks import FEATURES, some_names

pyarrow = pytest.importorskip("pyarrow")


@pytest.mark.parametrize(("features", "bits"), [(1 << 18, 18), (47_000, None), (1, 0), (0, None)])
def test_a_header_is_read_back(features: int, bits: int | None) -> None:
    said = Header(features, {"format": "vw", "interactions": ["a*b"]})
    assert said.bits == bits
    assert read_header(said.metadata(), "file") == said
    assert json.loads(said.metadata()[KEY])["bits"] == bits


def test_others_have_none() -> None:
    assert read_header(None, "file") is None
    assert read_header({b"pandas": b"{}"}, "file") is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "7", "{}", '{"version": 1}', '{"version": "new"}', '{"version": null}', "\xff",
     '{"version": 1, "features": -1, "reading": {}}', '{"version": 1, "features": 2.5, "reading": {}}',
     '{"version": 1, "features": 2, "reading": 3}'],
)  # fmt: skip
def test_a_damaged_header(text: str) -> None:
    with pytest.raises(InputError, match="file: its header is damaged; convert the original again"):
        read_header({KEY: text.encode("latin1")}, "file")


def test_a_later_format() -> None:
    with pytest.raises(InputError, match=r"file: was written by a later steelyard \(format 2, .* up to 1\)"):
        read_header({KEY: b'{"version": 2, "anything": "else"}'}, "file")


def test_names_are_admitted_as_they_were() -> None:
    candidates, compose = unpack_names(pack_names(some_names()), FEATURES, "file")
    again = Names(FEATURES, most=3)
    chosen = again.admit(candidates)
    text, lengths = compose(candidates.places[chosen])
    again.name(candidates.indices[chosen], text, lengths)
    assert text.tobytes() == b"five\xff\x00seventeen"
    assert lengths.tolist() == [4, 2, 9]
    assert again.collisions() == some_names().collisions()
    assert len(unpack_names(pack_names(Names(FEATURES)), FEATURES, "file")[0].keys) == 0


def test_damaged_names() -> None:
    table = pyarrow.table({"key": [1]})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    for packed in (b"", b"?", b"AAAA", base64.b64encode(sink.getvalue()), pack_names(some_names())[:-40]):
        with pytest.raises(InputError, match="file: its names are damaged"):
            unpack_names(packed, FEATURES, "file")
