"""Arrays written one by one: the same bytes as safetensors writes of all of them at once."""

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load, save

from steelyard import _array_writer

Arrays = dict[str, NDArray[Any]]


def written(arrays: Arrays, metadata: dict[str, str]) -> bytes:
    file = io.BytesIO()
    _array_writer.write(file, arrays.items, metadata)
    return file.getvalue()


def arrays_of_every_type() -> Arrays:
    random = np.random.default_rng(0)
    found: Arrays = {}
    for number, name in enumerate(_array_writer._CODES):
        for size in (number + 1, 3, 0):
            found[f"{size}.{name}"] = random.integers(0, 2, size).astype(name)
    return found


@pytest.mark.parametrize("text", ["", "{}", 'a "quoted" \\ \n\t\x01\x7f é 漢 \U0001f600'])
def test_the_bytes_are_those_of_safetensors(text: str) -> None:
    arrays = arrays_of_every_type() | {
        "matrix": np.arange(12.0).reshape(3, 4),
        "strided": np.arange(20, dtype=np.float32)[::2],
        "columns": np.arange(12, dtype=np.int64).reshape(3, 4).T,
    }
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    found = written(arrays, {"steelyard": text})
    assert found == save(whole, {"steelyard": text})
    for name, array in load(found).items():
        np.testing.assert_array_equal(array, arrays[name])


def test_no_array_is_kept_while_another_is_made() -> None:
    alive: list[Any] = []

    class Watched(np.ndarray[Any, Any]):
        def __del__(self) -> None:
            alive.remove(id(self))

    def arrays() -> Any:
        for number in range(4):
            array = np.full(10, float(number)).view(Watched)
            alive.append(id(array))
            yield str(number), array
            del array
            assert len(alive) <= 1

    file = io.BytesIO()
    _array_writer.write(file, arrays, {})
    assert load(file.getvalue())["3"].tolist() == [3.0] * 10
