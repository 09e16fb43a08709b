"""What is said on a terminal, wide or narrow."""

import io
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from steelyard.cli.demonstration import telling
from steelyard.cli.demonstration.findings import Findings
from steelyard.cli.demonstration.telling import Teller


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_word_meanwhile_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, said in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with telling.doing("weighing"):
            pass
        telling.note("compiling")
        assert ("weighing" in stream.getvalue()) is said
        assert ("compiling" in stream.getvalue()) is said


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("part", [telling.the_learning, telling.the_weights])
def test_lines_fit(
    found: Findings,
    part: Callable[[Teller, Findings], None],
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    part(Teller(), found)
    telling.the_question(Teller(), found.question)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= min(width, 88)
    assert not any(line.rstrip().endswith("…") and len(line.split()) == 1 for line in lines)


def test_markup_in_docstrings_is_no_markup(found: Findings, capsys: pytest.CaptureFixture[str]) -> None:
    strange = replace(found, heavy_row=("sklearn", "[bold]one[/bold] [/] <b>"))
    telling.the_weights(Teller(), strange)
    assert "“[bold]one[/bold] [/] <b>” (sklearn)" in capsys.readouterr().out


def test_either_answer_is_said(found: Findings, capsys: pytest.CaptureFixture[str]) -> None:
    for prediction, answer in ((1.0, "+1.00: sklearn."), (-1.0, "-1.00: another package.")):
        explained = found.explained | {"prediction": prediction}
        telling.the_learning(Teller(), replace(found, explained=explained))
        assert answer in capsys.readouterr().out


def test_the_narrow_table_has_a_line_at_1_2_4() -> None:
    lines = telling.narrow_table([0.5, 0.4, 0.35, 0.3, 0.25])
    assert [line.split() for line in lines[1:]] == [["1", "0.5000"], ["2", "0.4000"], ["4", "0.3000"]]
    assert max(map(len, lines)) <= 40


def test_a_feature_without_a_name_is_shown_as_it_is() -> None:
    assert telling.word("docstring^fit") == "fit"
    assert telling.word("#123") == "#123"


def test_long_texts_are_cut_between_words() -> None:
    cut = telling.shortened("word " * 100)
    assert cut.endswith("word …")
    assert len(cut) <= 202
    assert telling.shortened("short") == "short"
