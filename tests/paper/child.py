"""A run in a process of its own, to be killed: `python -m tests.paper.child LOG HOLDS [options]`."""

import sys
from pathlib import Path

from paper.command import command
from tests.paper.made_up import MadeUp

if __name__ == "__main__":
    log, holds = sys.argv[1:3]
    command((MadeUp("first", keys=tuple("abcdef"), log=Path(log), holds=holds),))(sys.argv[3:])
