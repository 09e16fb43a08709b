"""What git tracks: no symbolic links, which may lead out of the repository, and no paths of somebody's machine."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOMES = re.compile(r"(?<![\w.~])(?:/home/|/Users/|/root/|[A-Z]:\\+Users\\+)\w")


def tracked(*arguments: str, folder: Path = ROOT) -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def links(folder: Path) -> list[str]:
    """The symbolic links that git tracks in this folder."""
    return [line.split("\t")[1] for line in tracked("--stage", folder=folder) if line.startswith("120000 ")]


def foreign_paths(text: str) -> list[str]:
    """Where a text names a folder of one machine: somebody's home, or the one that holds this checkout."""
    here = re.escape(f"{ROOT}/")
    return [line for line in text.splitlines() if HOMES.search(line) or re.search(here, line)]


@pytest.fixture(scope="module", autouse=True)
def _in_a_checkout() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("git does not track these files")


def test_no_symbolic_links() -> None:
    assert links(ROOT) == []


def test_no_paths_of_a_machine() -> None:
    found = {}
    for name in tracked():
        if name != Path(__file__).relative_to(ROOT).as_posix() and (ROOT / name).is_file():
            found[name] = foreign_paths((ROOT / name).read_bytes().decode("utf-8", "ignore"))
    assert len(found) > 500
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_both_would_be_found(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "link").symlink_to("/elsewhere")
    subprocess.run(["git", "add", "link"], cwd=tmp_path, check=True)
    assert links(tmp_path) == ["link"]
    assert foreign_paths(f"plain\nin {ROOT}/src\nin /home/ann/data\nC:\\Users\\ann") == [
        f"in {ROOT}/src",
        "in /home/ann/data",
        "C:\\Users\\ann",
    ]
