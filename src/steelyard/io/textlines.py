"""What the formats of one example a line have in common, from the filled arrays to the finished chunk."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.examples import Examples
from steelyard.features.folding import Folding, Keyed
from steelyard.io.blocks import Block
from steelyard.io.parsed_block import Compose, ParsedBlock, RowError
from steelyard.io.problems import describe

PROBLEMS = 64  # described per block; all are counted
_EXCERPT = 40


def room_for_problems() -> NDArray[np.int64]:
    return np.empty((PROBLEMS, 3), np.int64)


def finished_text(block: Block, keyed: Keyed, folding: Folding, *, kernel: Any, **rest: Any) -> ParsedBlock:
    """Of rows that stand in a room to be filled again: what is kept of them is copied.

    Names are written by a kernel that measures them first, into an array of no size.
    """
    starts = np.empty(0, np.int32)

    def compose(places: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        lengths = np.empty(len(places), np.int32)
        names = np.empty(kernel(block.text, starts, places, np.empty(0, np.uint8), lengths), np.uint8)
        kernel(block.text, starts, places, names, lengths)
        return names, lengths

    kept = replace(
        keyed,
        labels=keyed.labels.copy(),
        sample_weight=keyed.sample_weight.copy(),
        offsets=keyed.offsets.copy(),
        tags=keyed.tags.copy(),
    )
    parsed = finished(block, kept, folding, compose=compose, **rest)
    if parsed.candidates is not None and len(parsed.candidates.keys):
        starts = keyed.starts.copy()
    return parsed


def finished(
    block: Block,
    keyed: Keyed,
    folding: Folding,
    *,
    lines: int,
    wrong: int,
    problems: NDArray[np.int64],
    compose: Compose | None,
    remarks: frozenset[str] = frozenset(),
) -> ParsedBlock:
    """Fold the features into the model's range; describe what could not be read."""
    folded = folding.fold(keyed)
    unlabelled = np.isnan(keyed.labels)
    sample_weight = (
        np.where(unlabelled, 0.0, keyed.sample_weight) if unlabelled.any() else keyed.sample_weight
    )
    examples = Examples(
        folded.indptr, folded.indices, folded.values, False, folding.features, keyed.labels, sample_weight,
        offsets=keyed.offsets if keyed.offsets.any() else None,
    )  # fmt: skip
    notes = [_note(block, *problem) for problem in problems[:wrong].tolist()]
    return ParsedBlock(
        block, examples, lines, folded.candidates, compose, wrong, notes, tags=keyed.tags, remarks=remarks
    )


def _note(block: Block, line: int, code: int, where: int) -> RowError:
    """With the word that the trouble begins at."""
    text = block.text[where : where + _EXCERPT].tobytes()
    words = text.split(maxsplit=1)
    return RowError(line, describe(code, words[0] if words and not text[:1].isspace() else b""))
