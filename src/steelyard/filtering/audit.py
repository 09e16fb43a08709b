"""The audit of a filter: a sample of documents to label, and from the labels precision and recall.

Documents kept and documents rejected are drawn uniformly, each in the order of their numbers. Bounds on how
many of all of them are wanted come from tests by betting (`active.sequential_tests`), which hold whenever one
looks: label as many as you like, in order, look, and go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steelyard._atomic_files import replacing
from steelyard._parameters import Parameter
from steelyard.active.sequential_tests import ALPHA, share_evidence
from steelyard.filtering.audit_sample import KEPT, REJECTED, AuditSample, Candidate
from steelyard.filtering.run_folder import OWN, read_json, write_json
from steelyard.io.csv_text import csv_line, csv_records
from steelyard.io.errors import InputError

_YES, _NO = ("1", "yes", "y", "true", "keep"), ("0", "no", "n", "false", "drop")
_BOUNDS = 4  # from below and above, of kept and of rejected documents: all of them hold at once


@dataclass(frozen=True)
class Interval:
    """An estimate between bounds that are valid at any stopping time."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class FilterAudit:
    """`precision`: the share of kept documents that is wanted; `recall`: of wanted ones that is kept."""

    precision: Interval
    recall: Interval | None
    """None where nothing was rejected."""
    labelled: dict[str, int]
    documents: dict[str, int]
    confidence: float


def write_sample(
    folder: Path, sample: AuditSample, candidates: list[Candidate], statistics: dict[str, Any]
) -> Path:
    """The sample as a table in which the labels are to be filled in. One that has labels already stays."""
    path, key = folder / OWN / "audit.csv", folder / OWN / "audit.json"
    if path.is_file() and any(label.strip() for label, _ in _rows(path)):
        return path
    strata = sample.select(candidates)
    drawn = [(rank, each) for found in strata.values() for rank, each in enumerate(found)]
    drawn.sort(key=lambda pair: (pair[0], pair[1]["key"]))  # in turn
    kept = statistics["kept"]
    sizes = {KEPT: kept, REJECTED: statistics["rows"] - kept}
    write_json(
        key, {"documents": {name: sizes[name] for name in strata}, "strata": [e["stratum"] for _, e in drawn]}
    )
    rows = [(number, "", each["document"]) for number, (_, each) in enumerate(drawn, 1)]
    lines = (f"{csv_line(row)}\r\n" for row in (("number", "keep", "document"), *rows))
    with replacing(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8", newline="")
    return path


def audit_filter(
    folder: str | Path, labels: str | Path | None = None, *, confidence: float = 1.0 - ALPHA
) -> FilterAudit:
    """Precision and recall of a filter, from the labels that were filled in.

    Parameters
    ----------
    folder : path
        The folder of a filter that ran with an audit.
    labels : path, optional
        The table with yes or no in its column `keep`. By default `_steelyard/audit.csv` in the folder.
    confidence : float
        The probability with which both intervals hold, at all times at once.

    Returns
    -------
    FilterAudit
    """
    own = Path(folder) / OWN
    known = read_json(own / "audit.json")
    if known is None and not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such folder; name the one that the filter has written")
    if known is None:
        raise InputError(
            f"{folder}: has no sample; run the filter with ", Parameter("audit_size", 400), ", say"
        )
    if not 0.0 < confidence < 1.0:
        raise InputError(f"the confidence must lie between 0 and 1; got {confidence}")
    path = own / "audit.csv" if labels is None else Path(labels)
    strata = known["strata"]
    answers = _answers(path, len(strata))
    last = max((number for number, answer in enumerate(answers) if answer is not None), default=-1)
    if last < 0:
        raise InputError(f"{path}: no document is labelled yet; write yes or no into the column keep")
    wanted: dict[str, tuple[int, int]] = {}
    estimates: dict[str, float] = {}
    counts = {}
    for name, documents in known["documents"].items():
        own_answers = [a for a, s in zip(answers[: last + 1], strata, strict=False) if s == name]
        wanted[name] = bounds(own_answers, documents, (1.0 - confidence) / _BOUNDS)
        given = [answer for answer in own_answers if answer is not None]
        estimates[name] = documents * (np.mean(given) if given else 0.5)
        counts[name] = len(given)
    low, high = wanted[KEPT]
    kept = known["documents"][KEPT]
    precision = Interval(_ratio(estimates[KEPT], kept), _ratio(low, kept), _ratio(high, kept))
    recall = None
    if REJECTED in wanted:
        missed_low, missed_high = wanted[REJECTED]
        recall = Interval(
            _ratio(estimates[KEPT], estimates[KEPT] + estimates[REJECTED]),
            _ratio(low, low + missed_high),
            _ratio(high, high + missed_low),
        )
    return FilterAudit(precision, recall, counts, known["documents"], confidence)


def bounds(answers: Sequence[bool | None], documents: int, alpha: float) -> tuple[int, int]:
    """How many of so many documents are wanted, at least and at most; each holds with probability 1 − α.

    An answer that is missing counts as the worst one for each bound.

    >>> bounds(([True] * 10 + [False] + [True] * 9) * 5, 10_000, 0.0125)
    (8464, 9939)
    """
    yes = np.cumsum([answer is not False for answer in answers])
    no = np.cumsum([answer is not True for answer in answers])
    # in an order that is next to impossible, as all no before all yes, the one may pass the other
    low, high = sorted([documents - _at_most(no, documents, alpha), _at_most(yes, documents, alpha)])
    return low, high


def _at_most(found: Any, documents: int, alpha: float) -> int:
    """The largest number of such documents that was never ruled out; `found` are those after each draw."""
    draws = np.arange(1, len(found) + 1)

    def ruled_out(least: int) -> bool:
        return bool((share_evidence(draws, found, documents, least) >= -np.log(alpha)).any())

    if not len(found) or not ruled_out(documents):
        return documents
    low, high = int(found[-1]), documents  # `low` may be, `high` is ruled out
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ruled_out(middle) else (middle, high)
    return low


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _rows(path: Path) -> list[tuple[str, str]]:
    """The label and the number of each document."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        records = csv_records(file)
        names = next(records, ["keep", "number"])
        for name in ("keep", "number"):
            if name not in names:
                raise InputError(f"{path}: has no column {name!r}, as audit.csv has")
        rows = [dict(zip(names, cells, strict=False)) for cells in records if cells]
    return [(row.get("keep", ""), row.get("number", "")) for row in rows]


def _answers(path: Path, count: int) -> list[bool | None]:
    found: list[bool | None] = [None] * count
    for label, number in _rows(path):
        given = label.strip().lower()
        if given not in (*_YES, *_NO, ""):
            raise InputError(f"{path}, document {number}: {label!r} is neither yes nor no")
        if not number.isdigit() or not 1 <= int(number) <= count:
            raise InputError(f"{path}: there is no document number {number!r} in the sample")
        found[int(number) - 1] = None if not given else given in _YES
    return found
