"""A run in a process of its own, to be killed: `python -m tests.paper.child LOG SECONDS FAILS [options]`."""

import sys
from pathlib import Path

from paper.command import command
from tests.paper.made_up import MadeUp

if __name__ == "__main__":
    log, seconds, fails = sys.argv[1:4]
    keys = tuple("abcdef")
    command((MadeUp("first", keys=keys, log=Path(log), seconds=float(seconds), fails=fails),))(sys.argv[4:])
