"""The map of the house in CONTRIBUTING.md names all rooms, and only files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/steelyard"
MAP = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def inside(room: str) -> list[str]:
    """The modules that the table of a room names in its first column."""
    section = MAP.partition(f"### Inside `{room}/`")[2].partition("\n### ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([a-z0-9_]+)`", row)]


def test_every_room_is_on_the_map() -> None:
    table = MAP.partition("| room | what is in it |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+(?:\.py|/))`", table))
    rooms = {f"{path.name}/" if path.is_dir() else path.name for path in PACKAGE.iterdir()}
    assert named >= rooms - {"__init__.py", "__pycache__/", "py.typed"}
    assert {name for name in named if not (PACKAGE / name).exists()} <= {"hatch_build.py", "identifiers.py"}


def test_journeys_pass_through_files_that_exist() -> None:
    paths = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", MAP))
    assert len(paths) > 40
    places = (PACKAGE, ROOT, PACKAGE / "io")
    assert [path for path in sorted(paths) if not any((place / path).exists() for place in places)] == []


def test_the_tables_of_rooms_name_modules_that_exist() -> None:
    for room in ("learn", "scoring"):
        names = inside(room)
        assert len(names) > 15
        assert [name for name in names if not (PACKAGE / room / f"{name}.py").exists()] == []
    own = {path.stem for path in (PACKAGE / "scoring").glob("[!_]*.py")}
    assert own == set(inside("scoring"))
