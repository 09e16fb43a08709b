"""What the demo says, on the terminal and on its page."""

import copy
import sys
from dataclasses import replace

import pytest

from steelyard.demo import page
from steelyard.demo.experiment import MODEL, Findings
from steelyard.report import BEGINNING
from tests.cli.test_report import Page


def test_the_page(findings: Findings) -> None:
    page.write(findings)
    path = findings.folder / "weights.html"
    assert path.read_bytes().startswith(BEGINNING)
    found = Page(path)
    assert f"{findings.quality[MODEL]['accuracy']:.1%}of 551 other people" in found.text
    shown = [group for group in findings.groups if group.people >= 20]
    assert found.counted["tr"] == len(shown) == 10
    assert found.counted["circle"] == 3 * 10 + 12
    for command in findings.commands:
        assert command in found.text


def test_nothing_becomes_markup(findings: Findings) -> None:
    groups = [replace(group, name="<script>") for group in findings.groups]
    assert "<script" not in page.render(replace(findings, groups=groups))


def test_a_step_that_stays_in_the_picture(findings: Findings) -> None:
    heavy = copy.deepcopy(findings.heavy)
    heavy.steps["explicit"] = heavy.steps["invariant"]
    drawn = page.plot_steps(replace(findings, heavy=heavy))
    first, second = (part.partition('"')[0] for part in drawn.split('points="')[1:])
    assert first == second


def test_a_status_is_for_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with page.show_status("working"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with page.show_status("working"):
        pass


def test_texts_are_wrapped(
    findings: Findings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "55")
    page.print_text("findings.txt.j2", findings=findings)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 55
    assert "How good is it?" in lines
    assert any(line.startswith("  the sample, weighted") for line in lines)
