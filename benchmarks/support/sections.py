"""Pages with parts that scripts write: each part stands between two comments that name its script."""

from pathlib import Path


def write(page: Path, script: str, text: str) -> None:
    """Put the text in the place of what the script wrote before, or at the end of the page."""
    begin, end = f"<!-- written by {script} -->", f"<!-- end of {script} -->"
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    before, found, rest = old.partition(begin)
    after = rest.partition(end)[2] if found else ""
    parts = (before.strip(), f"{begin}\n\n{text.strip()}\n\n{end}", after.strip())
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def table(heads: list[str], rows: list[list[str]]) -> str:
    """In Markdown: the first column to the left, the others to the right."""
    rule = ["---", *("---:" for _ in heads[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, rule, *rows])
