"""Calling compiled code: arguments become a block of 64-bit words, whose address is all that is passed.

An array becomes its address, its shape and, if it has gaps, its strides; a number itself; a function its address
and that of its parameters; a tuple or a struct its items. The key of a call describes the block: `f8[]` is an
array of float64 with one dimension, `f8[:]` one with gaps, `F2` a function of two numbers (see
`argument_blocks.signature_of`). Behind the arguments the compiled code writes its results: how many numbers,
and for each its kind and its bits. `argument_blocks` is the compiled side of this.

Nothing here checks the meaning of an array. A kernel refuses a key that it does not declare (see `declare`), and
one without an entry in the library is compiled (see `code`).
"""

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from steelyard.native import kinds

CODES = {
    np.dtype(kind): np.dtype(kind).str[1:]
    for kind in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float32", "float64", "complex64", "complex128",
    )
}  # fmt: skip
_SCALARS: dict[type, str] = {float: "f8", int: "i8", bool: "b1"} | {
    kind.type: name for kind, name in CODES.items() if kind.kind in "iuf"
}
_WORD = {"f": "d", "i": "q", "u": "Q", "b": "q"}
RESULTS = 8  # the most numbers that a kernel returns
INTEGER, UNSIGNED, REAL, TRUTH = range(4)  # kinds of results
_READ = {INTEGER: "q", UNSIGNED: "Q", REAL: "d", TRUTH: "?"}


class Function:
    """Compiled code that kernels call, with its parameters, such as the τ of a quantile."""

    code: str
    """The code of its signature: see `argument_blocks.signature_of`."""

    @property
    def words(self) -> tuple[int, int]:
        """The address of the code, and that of its parameters."""
        raise NotImplementedError  # pragma: no cover


def describe(arguments: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return the key of these arguments, and their words."""
    kinds_given: list[str] = []
    words: list[Any] = []
    _describe(arguments, kinds_given, words)
    return " ".join(kinds_given), words


_BRACKETS = {1: "[]", 2: "[,]", 3: "[,,]", 4: "[,,,]"}
_WITH_GAPS = {1: "[:]", 2: "[:,:]", 3: "[:,:,:]", 4: "[:,:,:,:]"}


def _describe(arguments: Sequence[Any], kinds_given: list[str], words: list[Any]) -> None:
    for argument in arguments:
        kind = type(argument)
        if isinstance(argument, np.ndarray):
            if argument.dtype not in CODES or argument.ndim not in _BRACKETS:
                raise TypeError(
                    "kernels take arrays of numbers with one to four dimensions, in native byte order; "
                    f"got {argument.ndim} dimensions of {argument.dtype}"
                )
            words.append(argument.ctypes.data)
            words.extend(argument.shape)
            if argument.flags.c_contiguous:
                kinds_given.append(CODES[argument.dtype] + _BRACKETS[argument.ndim])
            else:
                kinds_given.append(CODES[argument.dtype] + _WITH_GAPS[argument.ndim])
                words.extend(argument.strides)
        elif kind in _SCALARS:
            kinds_given.append(_SCALARS[kind])
            words.append(argument)
        elif kind is np.bool_:
            kinds_given.append("b1")
            words.append(bool(argument))
        elif isinstance(argument, Function):
            kinds_given.append(argument.code)
            words.extend(argument.words)
        elif isinstance(argument, tuple):
            kinds_given.append(f"{kinds.named(kind)}(")
            _describe(argument, kinds_given, words)
            kinds_given.append(")")
        else:
            raise TypeError(f"kernels take arrays, numbers, functions and tuples of these; got {kind}")


class Call:
    """The compiled code of a kernel for one key, as a function of words."""

    def __init__(self, run: Callable[[int], int], key: str) -> None:
        self._run = run
        form = "".join(words_of(kind) for kind in key.split())
        self._words = struct.Struct(f"={form}")
        self._block = ctypes.c_int64 * (len(form) + 1 + 2 * RESULTS)
        self._end = 8 * len(form)

    def __call__(self, words: list[Any]) -> Any:
        block = self._block()
        self._words.pack_into(block, 0, *words)
        if self._run(ctypes.addressof(block)) != 0:
            raise IndexError("a kernel used an index beyond an array")  # pragma: no cover
        count = block[self._end // 8]
        if count == 0:
            return None
        results = [
            struct.unpack_from(
                "=" + _READ[block[self._end // 8 + 1 + 2 * k]], block, self._end + 16 + 16 * k
            )[0]
            for k in range(count)
        ]
        return results[0] if count == 1 else tuple(results)


def words_of(kind: str) -> str:
    """Return the words that an argument of this kind takes in the block, as `struct` names them."""
    if kind[-1] in "()":
        return ""
    if kind[0] == "F":
        return "QQ"
    dimensions = (kind.count("[") + kind.count(",")) * (2 if ":" in kind else 1)
    return "Q" + "q" * dimensions if dimensions else _WORD[kind[0]]
