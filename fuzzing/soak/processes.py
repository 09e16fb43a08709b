"""Commands as forks of this process, which has loaded everything: to start Python anew would take longer."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from steelyard.cli import main as steelyard

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_LONGEST = 120.0  # seconds, after which a command hangs
_TRACEBACK = 99


@dataclass(frozen=True)
class Child:
    number: int
    stderr: IO[bytes]
    heard: bytearray = field(default_factory=bytearray)

    def kill(self, which: signal.Signals) -> None:
        os.kill(self.number, which)

    def wait(self) -> int:
        """How it ended; a traceback and a hang are findings."""
        ends = time.monotonic() + _LONGEST
        while time.monotonic() < ends:
            done, status = os.waitpid(self.number, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                assert code != _TRACEBACK, self.said()
                return code
            time.sleep(0.002)
        self.kill(signal.SIGKILL)
        os.waitpid(self.number, 0)
        raise AssertionError(f"it hangs\n{self.said()}")

    def wait_after(self, which: signal.Signals) -> int:
        """Check that it ended well, or by that signal, which was sent to it."""
        code = self.wait()
        assert code in (0, 1, 128 + which, -which), (code, self.said())
        return code

    def said(self) -> str:
        self.heard.extend(self.stderr.read() or b"")
        return self.heard.decode(errors="replace")


def start(
    work: Callable[[], object] | list[Any],
    *,
    stdin: int | None = None,
    stdout: int | None = None,
    before: Callable[[], object] = lambda: None,
) -> Child:
    """A function or a command in a process of its own; `before` changes the circumstances there."""
    its_end, written = os.pipe()  # a file might be full, and messages are not what is tried here
    os.set_blocking(its_end, False)
    stderr = os.fdopen(its_end, "rb")
    # A signal that came before the child has its handlers would have it go on with what its parent does.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS[1:])
    number = os.fork()
    if number:
        os.close(written)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS[1:])
        return Child(number, stderr)
    code = _TRACEBACK
    try:
        with open(os.devnull, "r+b") as null:  # noqa: PTH123
            for place, given in enumerate((stdin, stdout, written)):
                os.dup2(null.fileno() if given is None else given, place)
        sys.stdin, sys.stdout, sys.stderr = (
            open(place, mode)  # noqa: PTH123, SIM115
            for place, mode in enumerate("rww")
        )
        before()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS[1:])
        if isinstance(work, list):
            steelyard([str(each) for each in work])
        else:
            work()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BaseException:  # noqa: BLE001 - it is told by the code
        os.write(2, traceback.format_exc().encode())
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(code)
