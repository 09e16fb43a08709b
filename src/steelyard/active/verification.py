"""`verify`: a certificate computed anew, from what it contains and from the journal of its labels.

By itself, a certificate shows that its draws are those of its seed and that they give the stated result.
Fields that it has only once are compared with the journal alone: the digests `model` and `pool_checksum`; the
rows that could be drawn, seed and alpha, as far as draws and result remain the same; for precision the size
of the pool; the order of the classes and, for an error, the positive class; for recall, answers and
predictions that make no difference to the count; fields that were added.
`format` claims nothing: it says how to read the file. The evidence is always compared to six digits only.
"""

import math
from typing import Any

import numpy as np

from steelyard.active.attempt import certification_in
from steelyard.active.certification import FORMAT, Certification, ReadRow, draw_order
from steelyard.active.journal import Journal

_DAMAGE = KeyError, TypeError, IndexError, AttributeError, OverflowError, MemoryError
_CLOSE = 1e-6  # logarithms of other machines and versions differ by less


def verify(certificate: dict[str, Any]) -> Certification:
    """Compute everything anew from draws and answers; an error says what does not agree."""
    try:
        return _verify(certificate)
    except _DAMAGE as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__} {error}"
        raise ValueError(f"is not a certificate: {what}") from error


def _verify(certificate: dict[str, Any]) -> Certification:
    if not 1 <= certificate["format"] <= FORMAT:
        raise ValueError(
            f"has the format {certificate['format']}, and this steelyard reads up to {FORMAT}; upgrade"
        )
    size, rows, draws = certificate["pool"], certificate["rows"], certificate["draws"]
    reads = [ReadRow(*read) for read in certificate.get("reads", ())]
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
    _check_classes(certificate)
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
    now, stated = found.certificate()["log_evidence"], certificate["log_evidence"]
    if not _is_same_evidence(stated, now) and (draws or stated != 0.0):  # which old ones begin with
        raise ValueError(f"'log_evidence' is {stated!r}, but its draws and answers give {now!r}")
    return found


def _is_same_evidence(stated: Any, now: float | None) -> bool:
    if stated is None or now is None:
        return stated is now
    return math.isclose(stated, now, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _check_classes(certificate: dict[str, Any]) -> None:
    """Check that only recall has reads, and that predictions are classes, for precision the positive one."""
    measure, positive = certificate["measure"], certificate.get("positive")
    if measure != "recall" and certificate.get("reads"):
        raise ValueError(f"'reads' has rows, but a certificate of {measure} has none")
    if positive is not None and positive not in certificate["classes"]:
        raise ValueError(f"'positive' is {positive!r}, but the classes are {certificate['classes']}")
    allowed = certificate["classes"]
    if measure == "precision" and positive is not None:  # format 1 does not name it
        allowed = [positive]
    for number, draw in enumerate(certificate["draws"], 1):
        if draw["prediction"] not in allowed:
            raise ValueError(
                f"draw {number} has the prediction {draw['prediction']!r}, which is not in {allowed}"
            )


def _check_picks(reads: list[ReadRow], seed: int, size: int) -> None:
    """Raise a ValueError unless every random pick was the first unread row of its random order."""
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
    """Verify, and compare with the journal, which must have this attempt, its predictions and answers."""
    found, claimed = verify(certificate), certificate["draws"]
    kept = certification_in(journal, found.attempt, len(claimed))
    if kept is None:
        raise ValueError(f"attempt {found.attempt} is not in {journal.path}")
    then = kept.certificate()
    stored = then["draws"] + [{}] * (len(claimed) - len(then["draws"]))
    for number, (draw, same) in enumerate(zip(claimed, stored, strict=True), 1):
        for name in sorted(draw):
            if name not in same or draw[name] != same[name]:
                raise ValueError(f"draw {number} has another {name} in {journal.path}, or none")
    odd = sorted(certificate.keys() ^ then.keys())
    if odd and certificate["format"] == FORMAT:  # those before lack some
        raise ValueError(f"it has {', '.join(odd)} and {journal.path} has not, or the other way round")
    for name in (name for name in then if name not in ("format", "log_evidence", "draws")):
        stated = certificate.get(name, [] if name == "reads" else None)
        if stated != then[name]:
            raise ValueError(f"{name!r} is {stated!r}, but {journal.path} has {then[name]!r} for it")
    return found
