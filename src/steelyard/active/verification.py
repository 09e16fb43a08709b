"""`verify`: a certificate computed anew, from what it contains and from the journal of its labels."""

from typing import Any

import numpy as np

from steelyard.active._journal_attempts import LABEL
from steelyard.active.attempt import answers_in_force
from steelyard.active.certification import FORMAT, Certification, Read, draw_order
from steelyard.active.journal import Journal

_SAME = "measure", "target", "alpha", "seed", "plan", "positive", "classes", "model", "pool_checksum"


def verify(certificate: dict[str, Any]) -> Certification:
    """Compute everything anew from draws and answers; an error says what does not agree."""
    try:
        return _verify(certificate)
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError, MemoryError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__} {error}"
        raise ValueError(f"is not a certificate: {what}") from error


def _verify(certificate: dict[str, Any]) -> Certification:
    if not 1 <= certificate["format"] <= FORMAT:
        raise ValueError(
            f"has the format {certificate['format']}, and this steelyard reads up to {FORMAT}; upgrade"
        )
    size, rows, draws = certificate["pool"], certificate["rows"], certificate["draws"]
    reads = [Read(*read) for read in certificate.get("reads", ())]
    without = [read.row for read in reads] if certificate["measure"] == "recall" else rows.get("all_but", ())
    among = np.array(rows["only"]) if "only" in rows else np.setdiff1d(np.arange(size), without)
    predictions: list[Any] = [None] * size
    for draw in draws:
        predictions[draw["row"]] = draw["prediction"]
    found = Certification(
        certificate["measure"], certificate["target"], certificate["classes"], predictions,
        among.astype(np.int64), alpha=certificate["alpha"], attempt=certificate["attempt"],
        seed=certificate["seed"], plan=certificate.get("plan"), positive=certificate.get("positive"),
        reads=reads,
    )  # fmt: skip
    _check_picks(reads, certificate["seed"], size)
    for number, draw in enumerate(draws, 1):
        if found.ask_next() != draw["row"]:
            raise ValueError(
                f"draw {number} is row {draw['row']}, where seed and attempt give {found.ask_next()}: "
                "the draws are not those of the certificate's seed"
            )
        found.answer(draw["row"], draw["answer"])
    for name, now in (("passed", found.passed), ("says", str(found))):
        if certificate[name] != now:
            raise ValueError(f"{name!r} is {certificate[name]!r}, but its draws and answers give {now!r}")
    return found


def _check_picks(reads: list[Read], seed: int, size: int) -> None:
    """What was picked at random must have been the first unread row of its random order."""
    orders: dict[int, tuple[list[int], int]] = {}
    unread = set(range(size))
    for turn, read in enumerate(reads, 1):
        if read.row not in unread:
            raise ValueError(f"row {read.row} was read twice, or is not in the pool")
        if read.source is not None:
            if read.source not in orders:
                orders[read.source] = draw_order(seed, read.source, size, np.arange(size)).tolist(), 0
            order, at = orders[read.source]
            while order[at] not in unread:
                at += 1
            orders[read.source] = order, at
            if order[at] != read.row:
                raise ValueError(
                    f"read {turn} is row {read.row}, where seed and attempt {read.source} pick {order[at]}: "
                    "the picks are not those of the certificate's seed"
                )
        unread.remove(read.row)


def verify_with_journal(certificate: dict[str, Any], journal: Journal) -> Certification:
    """As `verify`, and the attempt must be in the journal, begun so, with these predictions and answers."""
    found = verify(certificate)
    kept = journal.attempt(found.attempt)
    if kept is None:
        raise ValueError(f"attempt {found.attempt} is not in {journal.path}")
    start, entries = kept
    for name in _SAME:
        if certificate.get(name) != start[name]:
            raise ValueError(
                f"{name!r} is {certificate.get(name)!r}, but {journal.path} has {start[name]!r} for it"
            )
    if certificate["reads"] != start["reads"]:
        raise ValueError(f"the rows that were read before it are not those in {journal.path}")
    predicted = [start["classes"][code] for code in start["predictions"]]
    answered = [(row, label) for kind, row, label in answers_in_force(entries) if kind == LABEL]
    claimed = [(draw["row"], draw["answer"]) for draw in certificate["draws"]]
    if answered[: len(claimed)] != claimed:
        number = next(
            (at for at, pair in enumerate(claimed) if at >= len(answered) or answered[at] != pair), 0
        )
        raise ValueError(f"draw {number + 1} has another answer in {journal.path}, or none")
    for number, draw in enumerate(certificate["draws"], 1):
        if draw["prediction"] != predicted[draw["row"]]:
            raise ValueError(f"draw {number} has another prediction in {journal.path}")
    return found
