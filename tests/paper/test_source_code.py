"""A change in what a step's function uses is noticed, a change elsewhere is not."""

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import paper.studies
import steelyard
from paper import source_code

PACKAGE = {
    "__init__": "",
    "work": "from paper.studies.made_up_package import tools\n"
    "from paper.studies.made_up_package.sizes import N\n"
    "def compute(): return [{'n': tools.n() + N}]\n",
    "tools": "import paper.studies.made_up_package.deeper as d\ndef n(): return d.ONE\n",
    "deeper": "ONE = 1\n",
    "sizes": "N = 2\n",
    "telling": "from paper.studies.made_up_package.work import compute\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "made_up_package"
    folder.mkdir()
    for name, text in PACKAGE.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(paper.studies, "__path__", [*paper.studies.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    yield folder
    for name in [name for name in sys.modules if name.startswith("paper.studies.made_up_package")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("changed", "matters"),
    [
        ("work", True),
        ("tools", True),
        ("deeper", True),
        ("sizes", True),
        ("telling", False),
        ("__init__", False),
    ],
)
def test_which_changes_matter(package: Path, changed: str, matters: bool) -> None:
    importlib.import_module("paper.studies.made_up_package.telling")
    compute = importlib.import_module("paper.studies.made_up_package.work").compute
    before = source_code.digest(compute)
    assert source_code.digest(functools.partial(functools.partial(compute))) == before
    path = package / f"{changed}.py"
    path.write_text(path.read_text() + "# more\n")
    assert (source_code.digest(compute) != before) == matters


def add(folder: Path) -> None:
    (folder / "room/new.py").write_text("")


def move(folder: Path) -> None:
    (folder / "room/kernel.py").rename(folder / "kernel.py")


def edit(folder: Path) -> None:
    (folder / "room/kernel.py").write_text("STEP = 2\n")


def remove(folder: Path) -> None:
    (folder / "__init__.py").unlink()


def compile_and_note(folder: Path) -> None:
    (folder / "room/kernel.pyc").write_bytes(b"no source")
    (folder / "notes.md").write_text("no code")


@pytest.mark.parametrize(
    ("change", "matters"),
    [(add, True), (move, True), (edit, True), (remove, True), (compile_and_note, False)],
)
def test_every_module_of_the_library_matters(
    tmp_path: Path, change: Callable[[Path], None], matters: bool
) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "room/kernel.py").write_text("STEP = 1\n")
    before = source_code.folder_digest(tmp_path)
    change(tmp_path)
    assert (source_code.folder_digest(tmp_path) != before) == matters


def test_the_library_is_the_one_that_is_imported() -> None:
    assert source_code.library() == source_code.folder_digest(Path(steelyard.__path__[0]))
