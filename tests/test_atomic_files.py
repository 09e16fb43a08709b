"""Files are replaced whole or not at all."""

import os
from pathlib import Path

import pytest

from steelyard import _atomic_files


def test_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("one", "two"):
        with _atomic_files.replacing(path) as temporary:
            temporary.write_text(text)
            assert not path.exists() or path.read_text() == "one"
        assert path.read_text() == text
    with pytest.raises(TypeError), _atomic_files.replacing(path) as temporary:
        temporary.write_text(3)  # type: ignore[arg-type]
    assert path.read_text() == "two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match="there is no folder"),
        _atomic_files.replacing(tmp_path / "a/b"),
    ):
        pass


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space") as caught, _atomic_files.replacing(tmp_path / "file"):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(tmp_path / "file")
    with pytest.raises(OSError, match="No space") as caught, _atomic_files.replacing(tmp_path / "file"):
        raise OSError(28, "No space left on device", "another")
    assert caught.value.filename == "another"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with _atomic_files.replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    with _atomic_files.replacing(Path("/dev/null")) as path:
        assert path == Path("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    with _atomic_files.replacing(tmp_path / "pipe") as path:
        assert path == tmp_path / "pipe"
    assert path.is_fifo()
