"""The files and commands of the demo, and that the figures are those of the commands."""

import itertools
import shlex
from pathlib import Path

import numpy as np
import pytest

from steelyard.demo import experiment
from steelyard.demo.experiment import DemoFolder, Findings


def test_the_curve_ends_at_the_progressive_loss(findings: Findings) -> None:
    count, loss = findings.curve[-1]
    assert loss == pytest.approx(findings.training["progressive_loss"], rel=1e-9)
    assert count == len(findings.docstrings.train) == findings.training["examples"]


def test_the_curve_has_every_power_of_two(findings: Findings) -> None:
    counts = [count for count, _ in findings.curve]
    assert counts == sorted(set(counts))
    assert {1, 2, 4, 8, 16, 32, 64, 128} <= set(counts)


def test_it_learns_what_can_be_learned(findings: Findings) -> None:
    assert findings.quality["accuracy"] > 0.8
    assert findings.training["progressive_loss"] < 0.9 * findings.training["best_constant_loss"]


def test_the_scores_are_those_that_were_judged(findings: Findings) -> None:
    right = np.mean([(score > 0.0) == ours for score, ours in findings.scores])
    assert right == pytest.approx(findings.quality["accuracy"])
    assert [ours for _, ours in findings.scores] == [
        package == "sklearn" for package, _ in findings.docstrings.held_out
    ]


def test_the_explained_row_is_the_first_held_out(findings: Findings) -> None:
    assert findings.explained["prediction"] == pytest.approx(findings.scores[0][0])
    words = findings.docstrings.held_out[0][1].lower()
    for part in findings.explained["contributions"]:
        assert part["feature"].removeprefix("docstring^") in words


def test_what_is_typed_is_what_is_meant() -> None:
    here = DemoFolder(Path("it's a folder"), "sklearn")
    for command in [*here.main_commands(), *here.weighted_commands()]:
        typed = experiment.format_command(command)
        assert shlex.split(typed.replace("\\\n", "")) == ["steelyard", *itertools.chain(*command)]


def test_commands_fit_narrow_windows() -> None:
    here = DemoFolder(Path("steelyard-demo"), "sklearn")
    lines = [
        line
        for command in [*here.main_commands(), *here.weighted_commands()]
        for line in experiment.format_command(command).splitlines()
    ]
    assert max(map(len, lines)) <= 60


def test_a_table_is_written_with_its_quotes_and_weights(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    experiment.write_rows(path, [("a", 'say "x"'), ("b", "plain")])
    assert path.read_text() == 'package\tdocstring\na\t"say ""x"""\nb\tplain\n'
    experiment.write_rows(path, [("a", "text")], [10_000.0])
    assert path.read_text() == "weight\tpackage\tdocstring\n10000\ta\ttext\n"


def test_a_feature_without_a_name_is_shown_as_it_is() -> None:
    assert experiment.word_of("docstring^fit") == "fit"
    assert experiment.word_of("#123") == "#123"
