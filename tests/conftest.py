"""A problem that the scripts of several pages are tried on."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse


@pytest.fixture
def two_classes() -> Any:
    from benchmarks.support.labelled import Problem  # not at the top: a second that other tests need not wait

    random = np.random.default_rng(0)
    matrix = random.normal(size=(300, 5)).astype(np.float32)
    return Problem("toy", sparse.csr_matrix(matrix), np.where(matrix @ np.arange(5.0) > 0.0, 1.0, -1.0))
