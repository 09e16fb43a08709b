"""Leases on files that are mapped into memory.

A lease on a file that is read: a program that wants to write to it, or to cut it short, waits until it is
released. A file that is memory-mapped and then cut short by another program kills the process at the next
access. Reading instead of mapping is safe but copies every byte. Linux has a third way: a lease holds the
other program back (for 45 seconds, unless configured otherwise), long enough to notice and to stop with an
error.
"""

import signal

from steelyard._file_lock import fcntl


def take(file: int) -> bool:
    """Take a lease on an open file, until it is closed; False if that is not possible.

    Other systems, some file systems and files of other users have no leases, nor has a file that is written to.
    """
    try:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # ignored by default; the usual signal would kill
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except (AttributeError, OSError):
        return False
    return True


def wanted_back(file: int) -> bool:
    """Whether another program waits for the file on which a lease was taken."""
    return bool(fcntl.fcntl(file, fcntl.F_GETLEASE) != fcntl.F_RDLCK)
