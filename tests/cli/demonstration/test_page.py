"""The report, as a browser sees it."""

from html.parser import HTMLParser

import pytest

from steelyard.cli.demonstration import markup, page
from steelyard.cli.demonstration.findings import Findings
from steelyard.cli.demonstration.folder import typed

PICTURES = ("learning", "words", "scores", "calibration", "one", "all", "toy")
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
def plotted(found: Findings) -> Seen:
    return Seen(page.written(found, dict.fromkeys(PICTURES, TINY)))


@pytest.fixture(scope="module")
def bare(found: Findings) -> Seen:
    return Seen(page.written(found, {}))


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
    assert "http" not in markup.STYLE


def test_it_is_made_for_phones_too(plotted: Seen) -> None:
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in plotted.all("meta")
    assert {"charset": "utf-8"} in plotted.all("meta")


def test_docstrings_are_text_not_markup(found: Findings, plotted: Seen) -> None:
    assert any("<b>" in text for _, text in found.question.held_out[:2])
    for _, text in found.question.held_out[:2]:
        assert text in plotted.text
    assert found.heavy_row[1] in plotted.text


def test_the_figures_are_there(found: Findings, bare: Seen) -> None:
    plain = found.plain_rates
    for figure in (
        f"{found.quality['accuracy']:.1%}",
        f"{found.quality['auc']:.4f}",
        f"{plain.before:+.3f}",
        *(f"{step.at_once:+.3f}" for step in plain.steps.values()),
        f"{found.sweep.same_rate['explicit'][-1].log_loss:.3g}",
    ):
        assert figure in bare.text


def test_the_commands_are_there(found: Findings, bare: Seen) -> None:
    for command in [*found.folder.main_commands(), *found.folder.heavy_commands()]:
        assert typed(command) in bare.text


def test_without_plots_it_says_how_to_get_them_and_lists_the_words(found: Findings, bare: Seen) -> None:
    assert not bare.all("img")
    assert not bare.all("figure")
    assert 'pip install "steelyard[plot]"' in bare.text
    assert found.model["top_positive"][0]["feature"].removeprefix("docstring^") in bare.text


def test_with_plots_it_does_not(plotted: Seen) -> None:
    assert "pip install" not in plotted.text


def test_markup_escapes_everything() -> None:
    strange = "<script>&\"'"
    for piece in (
        markup.element("p", strange, title=strange),
        markup.quotation(strange, strange),
        markup.figures([(strange, strange)]),
        markup.table([strange], [[strange]]),
        markup.picture("x", strange, strange, strange),
        markup.commands([strange]),
        markup.page(strange, []),
    ):
        assert "<script" not in piece
        Seen(piece)
