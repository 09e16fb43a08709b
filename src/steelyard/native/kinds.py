"""Kinds of arrays and numbers that kernels take, as annotations of their parameters.

A kind is the type of an array's items and its dimensions, as in the key of a call (see `calls`). A letter stands for
several types: the library has the kernel for each of them.

    I   indices         int32, int64
    V   values of rows  float32, float64
    W   coefficients    float32, float64
    P   pairs of these  complex64, complex128
    B   bits of values  uint32, uint64
    S   coefficients as models store them: an array of either type, or the first numbers of pairs
    N   an array of float64, or one number of each pair

A struct is a NamedTuple whose fields are annotated in this way, so that arrays that belong together are declared
once.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_type_hints

Number = Annotated[Any, "f8"]
Count = Annotated[Any, "i8"]
Switch = Annotated[Any, "b1"]
Function2 = Annotated[Any, "F2"]  # of a prediction and a label
Function3 = Annotated[Any, "F3"]  # and of a push
OnBoard = Annotated[Any, "Fboard"]  # of many predictions at once: see `learn.batched_loss`
OnMoments = Annotated[Any, "Fmoments"]

Numbers = Annotated[Any, "f8[]"]
Table = Annotated[Any, "f8[,]"]
Histograms = Annotated[Any, "f8[,,,]"]
Counts = Annotated[Any, "i8[]"]
Places = Annotated[Any, "i8[,]"]
Switches = Annotated[Any, "b1[]"]
Bytes = Annotated[Any, "u1[]"]
ByteRows = Annotated[Any, "u1[,]"]
Words = Annotated[Any, "u8[]"]

Indices = Annotated[Any, "I[]"]
Values = Annotated[Any, "V[]"]
Bits = Annotated[Any, "B[]"]
OneBits = Annotated[Any, "B"]
Weights = Annotated[Any, "W[]"]
WeightRows = Annotated[Any, "W[,]"]
WeightCube = Annotated[Any, "W[,,]"]
StoredWeights = Annotated[Any, "S"]
Pairs = Annotated[Any, "P[]"]
ExactPairs = Annotated[Any, "c16[]"]
NumbersInPairs = Annotated[Any, "N"]

Keys = Annotated[Any, "u4[]"]  # hashes of names
Shorts = Annotated[Any, "i2[]"]
Ints = Annotated[Any, "i4[]"]
IntRows = Annotated[Any, "i4[,]"]
IntCube = Annotated[Any, "i4[,,]"]

_LETTERS: dict[str, tuple[str, ...]] = {
    "I": ("i4", "i8"),
    "V": ("f4", "f8"),
    "W": ("f4", "f8"),
    "S": ("f4[]", "f8[]", "f8[:]"),
    "N": ("f8[]", "f8[:]"),
}
_TIED = {"P": ("W", {"f4": "c8", "f8": "c16"}), "B": ("V", {"f4": "u4", "f8": "u8"})}


def named(struct: type) -> str:
    """Return the name of a struct in keys; an empty one for a plain tuple."""
    return "" if struct is tuple else f"{struct.__module__}:{struct.__qualname__}"


def declares(function: Callable[..., Any]) -> bool:
    """Return whether the parameters of a kernel have kinds; kernels that tests define need none."""
    hints = list(function.__annotations__.values())
    return any(
        hasattr(hint, "__metadata__") or (isinstance(hint, type) and issubclass(hint, tuple))
        for hint in hints
    )


def keys_of(function: Callable[..., Any]) -> list[str]:
    """Return the keys of all types that a kernel is built for, from its annotations."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    pattern = [token for hint in hints.values() for token in _tokens(hint)]
    used = sorted(
        {_TIED[letter][0] if letter in _TIED else letter for letter in map(_letter, pattern) if letter}
    )
    chosen = itertools.product(*(_LETTERS[letter] for letter in used))
    return [
        " ".join(_with(dict(zip(used, types, strict=True)), token) for token in pattern) for types in chosen
    ]


def _tokens(hint: Any) -> Iterator[str]:
    if isinstance(hint, type):
        yield named(hint) + "("
        for field in get_type_hints(hint, include_extras=True).values():
            yield from _tokens(field)
        yield ")"
    else:
        yield hint.__metadata__[0]


def _letter(token: str) -> str:
    """Return the letter of a pattern's token that stands for several types, if it has one."""
    return token[0] if token[0] in _LETTERS or token[0] in _TIED else ""


def _with(types: dict[str, str], token: str) -> str:
    letter = _letter(token)
    if letter in _TIED:
        tie, kinds = _TIED[letter]
        return token.replace(letter, kinds[types[tie]])
    return token.replace(letter, types[letter]) if letter else token
