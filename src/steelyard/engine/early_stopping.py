"""Passes until rows held out are predicted no better: the models of the best pass are kept."""

import copy
from collections.abc import Callable

from steelyard.engine.passes import Learned, PassLoop

PATIENCE = 3  # passes in a row that may be no better than the best one


def run(
    loop: PassLoop,
    measure: Callable[[], float] | None,
    after_piece: Callable[[Learned], None] | None = None,
    after_pass: Callable[[list[float]], None] | None = None,
) -> list[float]:
    """All passes, or with a measure those up to the best: the engine of the loop, and what it knows of rows
    held out, are then those of the best.

    Returns what was measured after each pass.
    """
    found: list[float] = []
    best, held_out, best_pass = loop.engine, loop.held_out, 0
    while loop.position[0] < loop.passes:
        loop.run_pass(after_piece)
        if measure is not None:
            found.append(measure())
        if after_pass is not None:
            after_pass(found)
        if found and found.index(min(found)) == len(found) - 1:
            best, held_out, best_pass = copy.deepcopy(loop.engine), loop.held_out, len(found)
        elif len(found) - best_pass >= PATIENCE:
            break
    if measure is not None:
        loop.engine, loop.held_out = best, held_out
    return found
