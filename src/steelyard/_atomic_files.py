"""Write files under a temporary name and rename them: a file is written whole, or not at all."""

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
