"""Text becomes HTML with the marks that were meant, and no others; pictures become parts of a page."""

import pytest

from paper.report.figures import inline_svg
from paper.report.markup import find_links, remove_marks, to_html


def test_nothing_of_a_text_becomes_markup() -> None:
    bad = '<script>alert("1")</script> [x](javascript:alert(1)) [y](#a"onclick="b) `<b>`'
    assert "<script" not in to_html(bad)
    assert "javascript:alert(1)" in to_html(bad)
    assert "href" not in to_html("[x](javascript:alert(1)) [x](http://x) [x](data:text/html,x)")
    assert '"onclick' not in to_html(bad)
    assert "<code>&lt;b&gt;</code>" in to_html(bad)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**a** and *b*", "<b>a</b> and <i>b</i>"),
        ("***a***", "<b><i>a</i></b>"),
        ("2 * 3 * 4, a*b*c, 0.93*", "2 * 3 * 4, a*b*c, 0.93*"),
        ("`**a** [b](#c)`", "<code>**a** [b](#c)</code>"),
        ("[**a**](#b)", '<a href="#b"><b>a</b></a>'),
        ("[a](tables/b.csv)", '<a href="tables/b.csv">a</a>'),
        ("one ` only", "one ` only"),
        ("", ""),
    ],
)
def test_marks(text: str, html: str) -> None:
    assert to_html(text) == html


def test_plain_text_has_no_marks() -> None:
    assert remove_marks("**a** *b* `c*d` [e](#f) <g> 2 * 3") == "a b c*d e <g> 2 * 3"
    assert find_links("[a](#b) [c](https://d) [e](#f)") == ["b", "f"]


def test_pictures_share_no_names() -> None:
    inside = '<path id="p"/><use xlink:href="#p" clip-path="url(#c)"/>'
    drawn = f'<?xml?>\n<svg a="1">\n<metadata>x</metadata>{inside}</svg>\n'
    assert inline_svg(drawn, "one", 'a "label"') == (
        '<svg role="img" aria-label="a &quot;label&quot;" a="1"><path id="one-p"/>'
        '<use xlink:href="#one-p" clip-path="url(#one-c)"/></svg>'
    )
