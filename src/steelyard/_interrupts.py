"""Ctrl-C that waits until something is done, for what must happen wholly or not at all."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def deferred() -> Iterator[None]:
    """An interrupt that comes in here is heard at the end. (Only the main thread hears any.)"""
    handler: Any = signal.getsignal(signal.SIGINT)
    came: list[tuple[int, FrameType | None]] = []
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[-1])
