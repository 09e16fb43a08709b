"""One run of the demo on a small installation, for all tests that look at what came out of it."""

from pathlib import Path

import pytest

from steelyard.cli.demo import _run
from steelyard.demo import docstrings, experiment
from steelyard.demo.experiment import Findings
from tests.demo import installation


@pytest.fixture(scope="session")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    root = tmp_path_factory.mktemp("installation")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docstrings, "find_installed", lambda: installation.make_packages(root))
        folder, collected = experiment.prepare(Path(root, "demo"), "sklearn", seed=1)
        return experiment.run_experiment(folder, collected, _run, seed=1)
