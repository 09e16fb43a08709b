"""The README tells the truth. (Its examples run as doctests.)"""

from pathlib import Path

import pytest

from steelyard import losses, updates

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = README[README.index("| loss | labels |") :].partition("\n\n")[0].splitlines()
TABLE = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES]


def test_the_table_has_every_update() -> None:
    loss, labels, *names = TABLE[0]
    assert (loss, labels) == ("loss", "labels")
    assert names == updates.names()


@pytest.mark.parametrize("row", TABLE[2:], ids=lambda row: row[0])
def test_the_table_knows_which_updates_a_loss_has(row: list[str]) -> None:
    name = row[0].split("`")[1]
    can = updates.names_for(losses.by_name(name))
    assert row[2:] == ["yes" if update in can else "–" for update in updates.names()]
    for parameter in losses.parameters(name):
        assert f"`{parameter}`" in row[0]


def test_the_picture_is_there() -> None:
    assert "](docs/weight-50.png)" in README
    assert (ROOT / "docs/weight-50.png").is_file()
