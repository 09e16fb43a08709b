"""Pieces of HTML. Whatever is text is escaped here, so that no docstring becomes markup."""

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light; }
body { font: 1.05rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: #222;
  background: #fff; margin: 0 auto; max-width: 44rem; padding: 1.2rem; overflow-wrap: break-word; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: .6rem 0; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; border-top: 1px solid #ddd; padding-top: 1.2rem; }
.lead { font-size: 1.15rem; color: #444; }
figure { margin: 1rem 0; break-inside: avoid; }
figure img { display: block; width: 100%; height: auto; }
figcaption, footer { font-size: .9rem; color: #555; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem; }
.wide { overflow-x: auto; }
.wide img { min-width: 40rem; }
blockquote { margin: .8rem 0; padding: .5rem .9rem; background: #f5f5f2; border-left: .25rem solid #bbb; }
blockquote cite { display: block; font-size: .9rem; color: #555; }
table { border-collapse: collapse; font-size: .95rem; margin: .8rem 0; }
th, td { padding: .25rem .7rem .25rem 0; text-align: right; border-bottom: 1px solid #e3e3e3;
  font-variant-numeric: tabular-nums; vertical-align: top; }
th:first-child, td:first-child { text-align: left; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem;
  margin: 1.2rem 0; padding: 0; list-style: none; }
.figures li { background: #f5f5f2; padding: .6rem .8rem; font-size: .9rem; }
.figures b { display: block; font-size: 1.5rem; line-height: 1.3; }
pre { background: #f5f5f2; padding: .8rem; overflow-x: auto; font-size: .85rem; line-height: 1.45; }
@media print { body { max-width: none; font-size: 10pt; padding: 0; } .wide img { min-width: 0; }
  pre { white-space: pre-wrap; } h2 { break-after: avoid; } }
"""


def page(title: str, parts: Iterable[str]) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body>\n</html>\n"
    )


def element(tag: str, text: str, **attributes: str) -> str:
    """Text within a tag; an attribute named `class_` is a class."""
    given = "".join(f' {name.rstrip("_")}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{given}>{escape(text)}</{tag}>"


def heading(text: str) -> str:
    return element("h2", text)


def paragraph(text: str) -> str:
    return element("p", text)


def quotation(text: str, source: str) -> str:
    return f"<blockquote>{escape(text)}{element('cite', source)}</blockquote>"


def figures(pairs: Sequence[tuple[str, str]]) -> str:
    """Numbers in large type, each with what it is."""
    items = "".join(f"<li>{element('b', number)}{escape(what)}</li>" for number, what in pairs)
    return f'<ul class="figures">{items}</ul>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first = "".join(element("th", cell, scope="col") for cell in head)
    body = "".join("<tr>" + "".join(element("td", cell) for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table></div>'


def picture(address: str | None, alt: str, caption: str, class_: str = "") -> str:
    """A figure with its caption; nothing where there is no picture."""
    if address is None:
        return ""
    image = f'<img src="{escape(address)}" alt="{escape(alt)}">'
    return f'<figure class="{escape(class_)}">{image}{element("figcaption", caption)}</figure>'


def commands(lines: Sequence[str]) -> str:
    return element("pre", "\n".join(lines))
