"""`steelyard active verify`: a certificate that agrees with itself, and files that do not."""

import json
from pathlib import Path

import numpy as np

from steelyard.active.certification import Certification
from tests.cli.running import refused, run


def test_certificates_are_checked(tmp_path: Path) -> None:
    test = Certification("error", 0.2, ["a", "b"], ["a"] * 100, np.arange(100))
    while (row := test.ask_next()) is not None:
        test.answer(row, "a")
    path = tmp_path / "certificate.json"
    test.save(path)
    said = run("active", "verify", path).stdout
    assert said.startswith("certified: error below 0.2 on 100 rows without a label (")
    assert said.endswith("; everything agrees\n")
    path.write_text(json.dumps(test.certificate() | {"alpha": 0.001}))
    assert "its draws and answers give" in refused("active", "verify", path)
    path.write_text("[]")
    assert f"{path}: is not a certificate" in refused("active", "verify", path)
    path.write_text("no JSON")
    assert f"{path}: Expecting value" in refused("active", "verify", path)
    assert "No such file" in refused("active", "verify", tmp_path / "none.json")
    path.write_text("[" * 100_000)
    assert f"{path}: maximum recursion" in refused("active", "verify", path)
    path.write_text(json.dumps(test.certificate() | {"attempt": 10**30}))
    assert "is not a certificate" in refused("active", "verify", path)
