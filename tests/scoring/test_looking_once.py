"""How often a file is opened: once to be looked at, and once to be read; by a filter once for both."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from steelyard.filtering import filter_files
from steelyard.io import sources
from tests.cli.running import run
from tests.filtering.corpus import rows, write_jsonl


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file was opened as a source of rows."""
    counts: Counter[str] = Counter()
    usual = sources.Source.__init__

    def count(self: sources.Source, path: str, *further: Any) -> None:
        counts[Path(path).name] += 1
        usual(self, path, *further)

    monkeypatch.setattr(sources.Source, "__init__", count)
    return counts


def table(folder: Path, kind: str) -> Path:
    path = folder / f"some.{kind}"
    if kind == "jsonl":
        return write_jsonl(path, rows(40, 5))
    path.write_text("text\n" + "".join(f"{number} words\n" for number in range(40)))
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_filter(models: Path, tmp_path: Path, opened: Counter[str], kind: str) -> None:
    path = table(tmp_path, kind)
    filter_files([models / "language.model", models / "quality.model"], path, tmp_path / "kept")
    assert opened[path.name] == 1


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("written", [".txt", ".csv", ".jsonl"])
def test_predict(models: Path, tmp_path: Path, opened: Counter[str], kind: str, written: str) -> None:
    path = table(tmp_path, kind)
    run("predict", models / "quality.model", path, "-o", tmp_path / f"out{written}")
    assert opened[path.name] == 2
