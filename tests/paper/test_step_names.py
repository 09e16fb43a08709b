"""What a user sees while the studies run, and in steps.csv, names the data that is used."""

from pathlib import Path

import pytest

from paper import data
from paper.dataset_paths import FORMS
from paper.studies import ALL
from paper.study import Scope, Study
from tests.paper.originals import write_stand_ins

ORIGINALS = set(FORMS) | {form.name for forms in FORMS.values() for form in forms if form.original}


@pytest.mark.parametrize("study", ALL, ids=lambda study: str(study.name))
@pytest.mark.parametrize("quick", [True, False])
def test_no_step_calls_a_stand_in_by_the_originals_name(
    study: Study, quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_stand_ins(tmp_path)
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path))
    monkeypatch.setattr(data, "_asked", set())
    monkeypatch.setattr(data, "file_digest", lambda path: "0")
    steps = study.steps(Scope(quick))
    assert steps or study.name == "choices"
    for step in steps:
        assert ORIGINALS.isdisjoint(step.key.split()), step.key
