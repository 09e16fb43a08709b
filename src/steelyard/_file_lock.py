"""`FileLock`: a file that one process at a time has locked; the lock ends with the process, however it ends."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

fcntl: Any = None
with contextlib.suppress(ImportError):  # Windows has none; no other module asks for it
    import fcntl


class FileLock:
    """Exists as a file while it is locked; a file that a killed process left behind does no harm."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._held: int | None = None

    def acquire(self) -> bool:
        """Lock it; False if somebody else has it."""
        while True:
            found = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            if not lock(found):
                os.close(found)
                return False
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(found), self.path.stat()):
                    os.ftruncate(found, 0)  # the note of a killed process
                    self._held = found
                    return True
            os.close(found)  # its last owner removed it meanwhile: this one has no name any more

    def write_note(self, text: str) -> None:
        """Write something for those who find it locked."""
        assert self._held is not None
        os.lseek(self._held, 1, os.SEEK_SET)  # Windows lets nobody else read the byte that is locked
        os.write(self._held, text.encode())

    def read_note(self) -> str:
        """Read what the process wrote that has locked it."""
        with contextlib.suppress(OSError), self.path.open("rb") as file:
            file.seek(1)
            return file.read().decode()
        return ""

    def release(self) -> None:
        if self._held is not None:
            with contextlib.suppress(OSError):  # Windows removes no open file
                self.path.unlink()
            os.close(self._held)
            self._held = None


def lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if somebody else has it."""
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
