"""What the demo says: the page as a browser sees it, and the text on a terminal, wide or narrow."""

import io
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from steelyard.demo import report
from steelyard.demo.experiment import Findings, format_command

PICTURES = ("learning", "words", "scores", "calibration", "one", "all")
EMPTY = ("meta", "img")
TINY = "data:image/svg+xml;base64,AAAA"


class Seen(HTMLParser):
    """What is on a page. A tag that does not match its end is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def plotted(findings: Findings) -> Seen:
    return Seen(report.render_page(findings, dict.fromkeys(PICTURES, TINY)))


@pytest.fixture(scope="module")
def bare(findings: Findings) -> Seen:
    return Seen(report.render_page(findings, {}))


def test_every_picture_has_an_alternative_and_a_caption(plotted: Seen) -> None:
    images = plotted.all("img")
    assert len(images) == len(plotted.all("figcaption")) == len(PICTURES)
    for image in images:
        assert len(image["alt"] or "") > 30


def test_the_page_needs_nothing_else(plotted: Seen) -> None:
    allowed = {"meta", "title", "style", "img"}
    for tag, attributes in plotted.tags:
        assert tag in allowed or not {"src", "href"} & set(attributes)
    assert {image["src"] for image in plotted.all("img")} == {TINY}
    assert "url(" not in plotted.text
    assert "http" not in plotted.text


def test_it_is_made_for_phones_too(plotted: Seen) -> None:
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in plotted.all("meta")
    assert {"charset": "utf-8"} in plotted.all("meta")


def test_docstrings_are_text_not_markup(findings: Findings, plotted: Seen) -> None:
    assert any("<b>" in text for _, text in findings.docstrings.held_out[:2])
    for _, text in findings.docstrings.held_out[:2]:
        assert text in plotted.text
    assert findings.heavy_row[1] in plotted.text


def test_the_figures_are_there(findings: Findings, bare: Seen) -> None:
    plain = findings.plain_rates
    for figure in (
        f"{findings.quality['accuracy']:.1%}",
        f"{findings.quality['auc']:.4f}",
        f"{plain.before:+.3f}",
        *(f"{step.at_once:+.3f}" for step in plain.steps.values()),
        f"{findings.weighted.same_rate['explicit'][-1].log_loss:.3g}",
    ):
        assert figure in bare.text


def test_the_commands_are_there(findings: Findings, bare: Seen) -> None:
    for command in [*findings.folder.main_commands(), *findings.folder.weighted_commands()]:
        assert format_command(command) in bare.text


def test_without_plots_it_says_how_to_get_them_and_lists_the_words(findings: Findings, bare: Seen) -> None:
    assert not bare.all("img")
    assert not bare.all("figure")
    assert 'pip install "steelyard[plot]"' in bare.text
    assert findings.model["top_positive"][0]["feature"].removeprefix("docstring^") in bare.text


def test_with_plots_it_does_not(plotted: Seen) -> None:
    assert "pip install" not in plotted.text


def test_the_page_escapes_everything(findings: Findings) -> None:
    strange = "<script>&\"'"
    entry = {"feature": f"docstring^{strange}", "weight": 1.0, "contribution": 1.0}
    changed = replace(
        findings,
        folder=replace(findings.folder, package=strange),
        docstrings=replace(findings.docstrings, held_out=[(strange, strange)]),
        model=findings.model | {"top_positive": [entry]},
        explained=findings.explained | {"contributions": [entry]},
        heavy_row=(strange, strange),
    )
    for plots in ({}, dict.fromkeys(PICTURES, strange)):
        html = report.render_page(changed, plots)
        assert "<script" not in html
        assert strange in Seen(html).text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_status_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with report.show_status("weighing"):
            pass
        assert ("weighing" in stream.getvalue()) is shown


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit(
    findings: Findings, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    report.print_text("question.txt.j2", docstrings=findings.docstrings)
    report.print_text("findings.txt.j2", findings=findings)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= min(width, 88)
    assert not any(line.rstrip().endswith("…") and len(line.split()) == 1 for line in lines)


def test_docstrings_are_printed_as_they_are(findings: Findings, capsys: pytest.CaptureFixture[str]) -> None:
    strange = replace(findings, heavy_row=("sklearn", "[bold]one[/bold] [/] <b>"))
    report.print_text("findings.txt.j2", findings=strange)
    assert "“[bold]one[/bold] [/] <b>” (sklearn)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("prediction", "answer"), [(1.0, "+1.00: sklearn."), (-1.0, "-1.00: another package.")]
)
def test_either_answer_is_said(
    findings: Findings, prediction: float, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    explained = findings.explained | {"prediction": prediction}
    report.print_text("findings.txt.j2", findings=replace(findings, explained=explained))
    assert answer in capsys.readouterr().out


def test_the_table_of_losses_has_a_line_at_1_2_4_and_the_end(
    findings: Findings, capsys: pytest.CaptureFixture[str]
) -> None:
    curve = list(enumerate([0.5, 0.4, 0.35, 0.3, 0.25], start=1))
    report.print_text("findings.txt.j2", findings=replace(findings, curve=curve))
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines[2:6]]
    assert lines[1].split() == ["docstrings", "average", "loss"]
    assert rows == [["1", "0.5000"], ["2", "0.4000"], ["4", "0.3000"], ["5", "0.2500"]]


def test_long_texts_are_cut_between_words() -> None:
    cut = report.shorten("word " * 100)
    assert cut.endswith("word …")
    assert len(cut) <= 202
    assert report.shorten("short") == "short"
