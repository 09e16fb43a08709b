"""One demonstration of a small installation, for all tests that look at what came out of it."""

from pathlib import Path

import pytest

from steelyard.cli.demonstration import findings, packages
from steelyard.cli.demonstration.findings import Findings
from tests.cli.demonstration import tree


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    root = tmp_path_factory.mktemp("installation")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packages, "installed", lambda: tree.found(root))
        folder, question = findings.collect(Path(root, "demo"), None, seed=1)
        progress, summary = findings.learn(folder, table=False)
        return findings.examine(folder, question, progress, summary, seed=1)
