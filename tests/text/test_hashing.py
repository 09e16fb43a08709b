"""Keys against a plain murmur3, and against known values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.native.declare import kernel
from steelyard.text import hashing
from steelyard.text.swar import address
from tests.support import slow_text


def murmur(data: bytes, seed: int) -> int:
    with np.errstate(over="ignore"):
        return int(hashing.murmur(np.frombuffer(b"#" + data, np.uint8), 1, len(data) + 1, seed))


def test_published_values() -> None:
    """Test vectors that circulate with the algorithm."""
    assert murmur(b"", 0) == 0
    assert murmur(b"", 1) == 0x514E28B7
    assert murmur(b"\xff\xff\xff\xff", 0) == 0x76293B50
    assert murmur(b"Hello, world!", 0x9747B28C) == 0x24884CBA


@settings(deadline=None)
@given(st.binary(max_size=40), st.integers(0, 2**32 - 1))
def test_murmur(data: bytes, seed: int) -> None:
    assert murmur(data, seed) == slow_text.murmur3(data, seed)


@kernel
def short(text, size, seed):  # type: ignore[no-untyped-def]
    return hashing.short_murmur(address(text), np.int64(0), size, seed)


@settings(deadline=None)
@given(st.binary(max_size=15), st.integers(0, 2**32 - 1), st.binary(min_size=16, max_size=16))
def test_murmur_of_a_short_name(data: bytes, seed: int, behind: bytes) -> None:
    with np.errstate(over="ignore"):
        found = short(np.frombuffer(data + behind, np.uint8), len(data), seed)
    assert found == slow_text.murmur3(data, seed)


@settings(deadline=None)
@given(
    st.one_of(st.binary(max_size=12), st.integers(0, 10**12).map(lambda n: str(n).encode())),
    st.integers(0, 2**32 - 1),
)
def test_keys(name: bytes, seed: int) -> None:
    with np.errstate(over="ignore"):
        assert hashing.key(np.frombuffer(name, np.uint8), 0, len(name), seed) == slow_text.key(name, seed)


@pytest.mark.parametrize("name", ["price", "17", "é", "", "0", "007", str(2**40)])
def test_keys_of_names(name: str) -> None:
    assert hashing.name_key(name) == slow_text.key(name.encode(), 0)
    assert hashing.column_key(name) == slow_text.murmur3(name.encode(), 0)
