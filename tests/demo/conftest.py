"""The findings of one run of the demo, for all tests of what it says."""

from pathlib import Path

import pytest

from steelyard.cli.commands import demo
from steelyard.demo import experiment
from steelyard.demo.experiment import Findings


@pytest.fixture(scope="session")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder: Path = tmp_path_factory.mktemp("demo")
    return experiment.run_experiment(folder, experiment.prepare(folder, 1), demo._run)
