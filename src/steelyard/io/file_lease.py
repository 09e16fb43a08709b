"""A lease on a file that is read: whoever wants to write to it, or cut it short, waits until we let go.

A file that is mapped into memory and cut short by another program ends the process at its next touch,
without a word. Reading instead of mapping is safe but copies every byte. Linux has a third way: with
a lease the other program is held back (for 45 seconds, unless set otherwise), time enough to notice
and to stop with an error.
"""

import signal


def taken(file: int) -> bool:
    """Take a lease on an open file, until it is closed; False where there is none to be had.

    So it is on other systems, on some file systems, on files of others, or while somebody writes.
    """
    try:
        import fcntl

        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # goes unnoticed; the usual one would end us
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except (ImportError, AttributeError, OSError):
        return False
    return True


def wanted_back(file: int) -> bool:
    """Whether somebody waits for the file on which a lease was taken."""
    import fcntl

    return fcntl.fcntl(file, fcntl.F_GETLEASE) != fcntl.F_RDLCK
