"""Files are written under a temporary name and then renamed: whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to, beside `path`. It becomes `path` if the block succeeds, else it goes.

    What is no file, /dev/null say, is written to as it is: it must not be replaced.
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
        with temporary.open("rb+") as written:  # on the disk before it takes the old file's place
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.filename is None:  # a full disk, say
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)
