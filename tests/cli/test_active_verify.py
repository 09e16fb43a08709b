"""`steelyard active verify`: a certificate that agrees with itself, and files that do not."""

import json
from pathlib import Path

import numpy as np

from steelyard.active.certification import Certification
from steelyard.active.journal import Journal
from tests.cli.running import refused, run


def test_certificates_are_checked(tmp_path: Path) -> None:
    test = Certification("error", 0.2, ["a", "b"], ["a"] * 100, np.arange(100))
    while (row := test.ask_next()) is not None:
        test.answer(row, "a")
    path = tmp_path / "certificate.json"
    test.save(path)
    said = run("active", "verify", path).stdout.splitlines()
    assert said[0].startswith("certified: error below 0.2 on 100 rows without a label (")
    assert [line.split(": ")[0] for line in said[1:]] == ["checked", "not checked"]
    assert said[2].endswith("add --journal FILE")
    path.write_text(json.dumps(test.certificate() | {"alpha": 0.001}))
    assert "its draws and answers give" in refused("active", "verify", path)
    path.write_text("[]")
    assert f"{path}: is not a certificate" in refused("active", "verify", path)
    path.write_text("no JSON")
    assert f"{path}: is not JSON (Expecting value" in refused("active", "verify", path)
    assert "No such file" in refused("active", "verify", tmp_path / "none.json")
    path.write_text("[" * 100_000)
    assert f"{path}: is not JSON (maximum recursion" in refused("active", "verify", path)
    path.write_text(json.dumps(test.certificate() | {"attempt": 10**30}))
    assert "is not a certificate" in refused("active", "verify", path)


def test_other_files_are_called_by_what_they_are(tmp_path: Path) -> None:
    journal, page, empty, model = (tmp_path / name for name in ("a.journal", "a.html", "empty", "a.model"))
    Journal(journal).close()
    page.write_text("<!DOCTYPE html>\n<title>Certificate</title>")
    empty.touch()
    rows = tmp_path / "rows.csv"
    rows.write_text("label,text\nham,a b\nspam,c d\n")
    run("train", rows, "--bits", 10, "-o", model)
    for path, what in ((journal, "a journal; steelyard active export"), (page, "a page"), (empty, "empty"),
                       (model, "a model"), (rows, "not JSON")):  # fmt: skip
        said = refused("active", "verify", path)
        assert f"{path}: is {what}" in said
        assert "A certificate is the JSON file that" in said
    good = tmp_path / "good.json"
    test = Certification("error", 0.2, ["a", "b"], ["a"] * 100, np.arange(100))
    test.save(good)
    assert f"{rows}: is not a journal; name the file that" in refused(
        "active", "verify", good, "--journal", rows
    )
    for path in (good, model, rows, empty):
        said = refused("active", "export", path, "-o", tmp_path / "out.csv")
        assert f"{path}: is not a journal; name the file that active label or active ask writes" in said
    assert "has no documents" in refused("active", "export", journal, "-o", tmp_path / "out.csv")
