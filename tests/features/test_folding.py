"""Sizes of models; what folding makes of rows is in tests/text/test_assemble.py."""

import pytest

from steelyard.features import Folding, Interactions


@pytest.mark.parametrize("bits", [0, 31])
def test_sizes_that_a_model_cannot_have(bits: int) -> None:
    with pytest.raises(ValueError, match=f"bits must be from 1 to 30; got {bits}"):
        Folding(bits, Interactions(), None)
