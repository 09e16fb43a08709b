"""Damaged files through the compiled readers and the slow ones, which must agree on every line.

The lane with bounds checked sees any read beyond the text. `NUMBA_DISABLE_JIT=1 pytest -m soak
tests/text/test_fuzz.py` is guided by coverage.
"""

import os
import random
import time

import pytest

from steelyard.native.declare import PLAIN
from tests.text import mutation
from tests.text.test_text_lines import check

KINDS = {"vw": "vw", "svm": "svmlight"}
FEW = 100 if PLAIN else 1500
SOAK_SECONDS = float(os.environ.get("STEELYARD_SOAK_SECONDS", "60"))


@pytest.mark.parametrize("suffix", KINDS)
def test_seeds(suffix: str) -> None:
    for text in mutation.seeds(suffix):
        check(text, KINDS[suffix])
        for end in range(0, len(text), 3):
            check(text[:end] + b"\n", KINDS[suffix])


@pytest.mark.parametrize("suffix", KINDS)
def test_damaged_files(suffix: str) -> None:
    draw, corpus = random.Random(0), mutation.seeds(suffix)
    for _ in range(FEW):
        check(mutation.mutated(draw.choice(corpus), corpus, draw), KINDS[suffix])


@pytest.mark.skipif(not PLAIN, reason="compiled lines are not seen")
def test_exploring_finds_more() -> None:
    explorer = mutation.Explorer("svm", seed=0)
    before = len(explorer.corpus)
    for _ in range(30):
        explorer.step(lambda text: check(text, "svmlight"))
    assert len(explorer.corpus) > before


@pytest.mark.soak
@pytest.mark.parametrize("suffix", KINDS)
def test_damaged_files_for_long(suffix: str) -> None:
    explorer = mutation.Explorer(suffix, time.time_ns())
    ends = time.monotonic() + SOAK_SECONDS
    while time.monotonic() < ends:
        explorer.step(lambda text: check(text, KINDS[suffix]))
