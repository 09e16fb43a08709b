"""`verify` notices a change of any field that claims something; `--journal` leaves only the format."""

import copy
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard import ActiveClassifier
from steelyard.active.journal import Journal
from steelyard.active.verification import verify, verify_with_journal
from tests.estimators.attempts import asked

CLASSES = ["ham", "spam"]
CLAIMS: list[dict[str, Any]] = [
    {"measure": "error", "target": 0.4},
    {"measure": "error", "target": 0.05, "most": 12},
    {"measure": "error", "target": 0.4, "plan": 0.2},
    {"measure": "precision", "target": 0.6},
    {"measure": "recall", "target": 0.3},
]
ALWAYS = {"format", "model", "pool_checksum", "only", "all_but"}
BY_JOURNAL_ONLY = {
    "error": {*ALWAYS, "positive"},
    "precision": {*ALWAYS, "pool"},
    "recall": {*ALWAYS, "draws", "reads", "classes"},
}
"""Fields that have no second copy in a certificate, as the docstring of `verification` says."""
NO_CLAIM = {"most", "turns", "learned", "predictions"}
"""Of an attempt in the journal: how it goes on and is learned, and what undrawn rows are predicted to be."""


@pytest.fixture(scope="module", params=CLAIMS, ids=lambda claim: "-".join(map(str, claim.values())))
def proof(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A certificate as a file has it, and the journal."""
    path = tmp_path_factory.mktemp("proof") / "a.journal"
    active: ActiveClassifier
    active, _, y = asked(path)
    attempt = active.certify(**request.param, label=lambda row: y[row])
    assert len(attempt.answers) > 3
    certificate = json.loads(json.dumps(attempt.certificate()))
    active.close()
    return certificate, path


def other(value: Any, path: tuple[Any, ...]) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if value in CLASSES and path[-1] != "measure" and "classes" not in path:
        return CLASSES[1 - CLASSES.index(value)]
    if isinstance(value, str):
        return f"{value}x"
    if value is None:
        return 0.3 if path[-1] in ("plan", "log_evidence") else 7 if path[0] == "reads" else "spam"
    if path[-1] == "format":
        return 1
    return value / 2 if isinstance(value, float) else value + 1


def changes(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Paths, and what they are to be: each leaf is another one, each list lacks its last entry.

    Of lists, the entries in the beginning, in the middle and at the end are changed.
    """
    if isinstance(content, dict | list):
        names = (
            content
            if isinstance(content, dict)
            else {0, len(content) // 2, len(content) - 1}
            if content
            else ()
        )
        for name in names:
            yield from changes(content[name], (*path, name))
        if isinstance(content, list) and content:
            yield path, content[:-1]
    else:
        yield path, other(content, path)


def changed(content: Any, path: tuple[Any, ...], to: Any) -> Any:
    found = copy.deepcopy(content)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return found


def test_a_change_of_any_field_is_noticed(proof: tuple[Any, Path]) -> None:
    certificate, path = proof
    assert verify(certificate).certificate()["draws"] == certificate["draws"]
    alone = BY_JOURNAL_ONLY[certificate["measure"]]
    with Journal(path, read_only=True) as journal:
        verify_with_journal(certificate, journal)
        for where, to in changes(certificate):
            forged = changed(certificate, where, to)
            try:
                verify(forged)
            except ValueError:
                continue
            names = {name for name in where if isinstance(name, str)}
            assert names & alone, (where, to)
            if names != {"format"}:
                with pytest.raises(ValueError, match=r"a\.journal"):
                    verify_with_journal(forged, journal)


def test_names_that_are_lacking_or_added_are_noticed_with_the_journal(proof: tuple[Any, Path]) -> None:
    certificate, path = proof
    forgeries = [
        {name: certificate[name] for name in certificate if name != left_out} for left_out in certificate
    ]
    forgeries += [certificate | {"reviewed": "by an expert"}]
    forgeries += [
        changed(certificate, ("draws", 1, "reviewed"), True),
        changed(certificate, ("rows", "x"), []),
    ]
    with Journal(path, read_only=True) as journal:
        for forged in forgeries:
            with pytest.raises(
                ValueError, match=r"a\.journal|is not a certificate|answers give|are not those of"
            ):
                verify_with_journal(forged, journal)


@pytest.mark.no_cover
def test_a_change_in_the_journal_is_noticed(proof: tuple[Any, Path], tmp_path: Path) -> None:
    certificate, path = proof
    with Journal(path, read_only=True) as journal:
        kept = journal.attempts.read(1)
        assert kept is not None
        with Journal() as forged:
            _check_forgeries(certificate, *kept, journal, forged)


def _check_forgeries(
    certificate: Any, start: dict[str, Any], entries: list[Any], journal: Journal, forged: Journal
) -> None:
    starts = [
        (where, changed(start, where, to))
        for where, to in changes(start)
        if where[0] not in NO_CLAIM and where != ("among",)
    ]
    flipped = start["among"].translate({ord("0"): "1", ord("1"): "0"})
    for at in (0, len(flipped) - 1):
        among = start["among"][:at] + flipped[at] + start["among"][at + 1 :]
        starts.append((("among", at), start | {"among": among}))
    for where, other_start in starts:
        journal.file.db.backup(forged.file.db)
        packed = zlib.compress(json.dumps(other_start).encode())
        forged.file.db.execute("UPDATE attempts SET start = ?", (packed,))
        _check_noticed(certificate, forged, where)
    for at in (0, 1, len(certificate["draws"]) - 1):
        journal.file.db.backup(forged.file.db)
        label = json.dumps(other(entries[at][2], ("label",)))
        forged.file.db.execute("UPDATE attempt_entries SET label = ? WHERE id = ?", (label, at + 1))
        _check_noticed(certificate, forged, ("label", at))


def _check_noticed(certificate: Any, forged: Journal, where: Any) -> None:
    try:
        verify_with_journal(certificate, forged)
    except (ValueError, OSError):  # the latter if it makes no sense
        return
    pytest.fail(f"{where}: was not noticed")


def test_certificates_of_the_first_format_still_count(proof: tuple[Any, Path]) -> None:
    """They name neither plan nor positive class nor reads, and before the first draw their evidence is 0."""
    certificate, _ = proof
    if certificate["measure"] == "recall" or certificate["plan"] is not None:
        return
    old = {name: value for name, value in certificate.items() if name not in ("plan", "positive", "reads")}
    assert verify(old | {"format": 1}).passed == certificate["passed"]
    says = "not certified: " + certificate["says"].split(": ", 1)[1]
    counts = says[says.index("(") + 1 : says.index(";")]
    empty = {
        "draws": [],
        "log_evidence": 0.0,
        "passed": False,
        "says": says.replace(counts, "0 labels, 0 wrong"),
    }
    assert not verify(old | {"format": 1} | empty).passed
