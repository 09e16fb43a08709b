"""Write files under a temporary name and rename them: a file is written whole, or not at all."""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` to write to. It becomes `path` if the block succeeds, else it is
    removed.

    Devices and pipes such as /dev/null are written to directly: they must not be replaced.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.is_char_device() or path.is_fifo():
        yield path
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {str(path.parent)!r}; make it first")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    _sweep_up(path)
    try:
        yield temporary
        with temporary.open("rb+") as written:  # on the disk before it replaces the old file
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.filename is None:  # such as a full disk
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file that was written so, if it is there, with what killed processes have left beside it."""
    path.unlink(missing_ok=True)
    _sweep_up(path)


def _sweep_up(path: Path) -> None:
    """Remove what processes that were killed have left behind beside this path."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        number = left.name.removeprefix(f".{path.name}.").removesuffix(".tmp")
        if number.isdecimal() and not _runs(int(number)):
            left.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True
