"""The Numba type of the numbers in registers of `vectors`. It is imported only while kernels are built."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from steelyard.learn.vectors import LANES


class Vectors(types.Type):  # type: ignore[misc]
    """`count` vectors of `LANES` numbers each."""

    def __init__(self, number: Any, count: int) -> None:
        self.number, self.count = number, count
        super().__init__(f"Vectors({number}, {count})")


@register_model(Vectors)
class _Registers(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vectors: Vectors) -> None:
        number = manager.lookup(vectors.number).get_value_type()
        super().__init__(manager, vectors, ir.ArrayType(ir.VectorType(number, LANES), vectors.count))
