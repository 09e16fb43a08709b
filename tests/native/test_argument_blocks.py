"""Types of arguments and functions in compiled code. (`test_calls` calls kernels with all kinds of them.)"""

import pytest
from numba import types

from steelyard.native.argument_blocks import FunctionType, signature_of, types_of
from steelyard.native.declare import PLAIN

pytestmark = pytest.mark.skipif(PLAIN, reason="nothing is compiled")


def test_functions_are_callable_for_numba() -> None:
    kind = FunctionType("F2")
    called = kind.get_call_type(None, (), {})
    assert (called.return_type, called.args) == (types.float64, (types.float64,) * 2)
    assert kind.get_call_signatures() == ([called], False)
    assert kind.get_impl_key(called) is FunctionType
    assert kind == FunctionType("F2") != FunctionType("F3")


def test_the_types_of_a_key() -> None:
    array, tuples = types_of(iter(["f4[:,:]", "(", "b1", "(", "F2", "i8[]", ")", "(", ")", ")"]))
    assert array == types.Array(types.float32, 2, "A")
    assert tuples.types[0] == types.boolean
    assert list(tuples.types[1]) == [FunctionType("F2"), types.Array(types.int64, 1, "C")]
    assert len(tuples.types[2]) == 0


def test_signatures() -> None:
    assert signature_of("F2") == (types.float64,) * 3
    assert signature_of("F3") == (types.float64,) * 4
    assert signature_of("Fboard") == (types.none, *[types.int64] * 4)
    moments = types.none, types.int64, types.int64, types.float64, types.float64
    assert signature_of("Fmoments") == moments
