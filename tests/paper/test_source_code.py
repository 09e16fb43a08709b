"""A change in what a step's function uses is noticed, a change elsewhere is not."""

import functools
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import paper.studies
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
