"""What makes it hard for a process: each is called in a fork before its command runs."""

import contextlib
import itertools
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

_NOBODY = 65534
Trials = dict[str, Callable[[Path, Random], None]]
"""What is tried in a folder, by the names of columns."""


def full_disk(largest: int) -> None:
    """No file may grow beyond so many bytes: writes fail, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))


def unprivileged() -> None:
    """Permissions do not bind root: become a user who has none."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)


def can_be_bound(folder: Path) -> bool:
    """Whether there is a way here to be somebody who may not write to a folder."""
    folder.chmod(0o755)  # temporary ones are closed to others
    closed = folder / "bound"
    closed.mkdir(mode=0o555)
    child = os.fork()
    if child == 0:
        bound = False
        with contextlib.suppress(OSError):
            unprivileged()
            bound = os.access(closed, os.R_OK) and not os.access(closed, os.W_OK)
        os._exit(int(not bound))
    return os.waitpid(child, 0)[1] == 0


def clock_going_back() -> None:
    """Every look at the clock finds it earlier, by a quarter of an hour."""
    began, looks = time.time(), itertools.count()
    time.time = lambda: began - 900.0 * next(looks)
