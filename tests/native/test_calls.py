"""What arguments become: a key that says what lies in the block, and words."""

import struct
from typing import Any

import numpy as np
import pytest

from steelyard.native import calls


class Given(calls.Function):
    code = "F2"

    @property
    def words(self) -> tuple[int, int]:
        return 7, 8


CUBE = np.zeros((2, 3, 4))
KEYS: list[tuple[Any, str]] = [
    (1, "i8"),
    (True, "b1"),
    (2.5, "f8"),
    (np.zeros(3), "f8[]"),
    (CUBE, "f8[,,]"),
    (CUBE[0], "f8[,]"),
    (CUBE[:, 0], "f8[:,:]"),
    (CUBE[:, :, 0], "f8[:,:]"),
    (CUBE[0, :, 1], "f8[:]"),
    (CUBE[:, ::2], "f8[:,:,:]"),
    (CUBE[np.newaxis], "f8[,,,]"),
    (CUBE[np.newaxis, ..., 1:], "f8[:,:,:,:]"),
    (CUBE.T, "f8[:,:,:]"),
    (np.zeros(0), "f8[]"),
    (np.zeros((0, 5))[:, ::2], "f8[,]"),  # nothing has no gaps
    (np.zeros(3)[1:2], "f8[]"),
    (np.zeros(4)[::3][:1], "f8[]"),
    (Given(), "F2"),
    ((), "( )"),
    ((1, (2.0, np.zeros(1, "u1")), ()), "( i8 ( f8 u1[] ) ( ) )"),
]


@pytest.mark.parametrize(("argument", "key"), KEYS, ids=[key for _, key in KEYS])
def test_keys(argument: Any, key: str) -> None:
    found, words = calls.describe([argument])
    assert found == key
    assert len(words) == sum(len(calls.words_of(kind)) for kind in key.split())


@pytest.mark.parametrize("dtype", calls.CODES, ids=str)
def test_every_kind_of_number(dtype: np.dtype[Any]) -> None:
    code = dtype.str[1:]
    assert calls.describe([np.zeros(2, dtype)])[0] == f"{code}[]"
    assert calls.describe([np.zeros((2, 2), dtype)[:, 1]])[0] == f"{code}[:]"
    if dtype.kind != "c":
        assert calls.describe([dtype.type(1)]) == (code, [1])


def test_an_array_is_its_address_its_shape_and_its_gaps() -> None:
    matrix = np.zeros((5, 3), np.float32)
    part = matrix[1:, 1:]
    assert calls.describe((matrix, 4, part)) == (
        "f4[,] i8 f4[:,:]",
        [matrix.ctypes.data, 5, 3, 4, matrix.ctypes.data + 16, 4, 2, 12, 4],
    )


def test_memory_maps_and_read_only_arrays_are_arrays(tmp_path: Any) -> None:
    np.arange(3).tofile(tmp_path / "numbers")
    assert calls.describe([np.memmap(tmp_path / "numbers", np.int64, "r")])[0] == "i8[]"


@pytest.mark.parametrize(
    "wrong",
    [
        np.array(3.0),
        np.zeros((1, 1, 1, 1, 1)),
        np.zeros((2, 2, 2, 2, 2))[:, ::2],
        np.zeros(2, ">f8"),
        np.zeros(2, "f2"),
        np.array(["a"]),
        np.array([object()]),
        np.zeros(2, "M8[s]"),
        np.zeros(2, [("a", "i4")]),
    ],
    ids=lambda array: f"{array.dtype} {array.ndim}",
)
def test_arrays_that_no_kernel_takes(wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"one to four dimensions.*; got {wrong.ndim} dimensions of "):
        calls.describe([wrong])


@pytest.mark.parametrize(
    "wrong", ["text", None, [1.0], {}, 1j, np.complex64(1), np.float16(1), len, (1, "text")], ids=repr
)
def test_things_that_no_kernel_takes(wrong: Any) -> None:
    with pytest.raises(TypeError, match="kernels take arrays, numbers, functions and tuples of these; got "):
        calls.describe([wrong])


def test_whole_numbers_of_more_than_64_bits_are_refused() -> None:
    call = calls.Call(lambda block: 0, "i8")
    with pytest.raises(struct.error):
        call([2**63])
