"""Write files under a temporary name and rename them, so that a file is complete or not there at all."""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path` to write to; the file becomes `path` on success, else it is removed.

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
    """Remove a file, if it is there, and temporary files of killed processes beside it."""
    path.unlink(missing_ok=True)
    _sweep_up(path)


def _sweep_up(path: Path) -> None:
    """Remove temporary files of killed processes beside this path."""
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
