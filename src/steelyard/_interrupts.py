"""Delay Ctrl-C until something is done that must happen completely or not at all."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def deferred() -> Iterator[None]:
    """Delay interrupts until the end of this context. (Only the main thread receives any.)"""
    handler: Any = signal.getsignal(signal.SIGINT)
    interrupts: list[tuple[int, FrameType | None]] = []
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: interrupts.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupts:
            handler(*interrupts[-1])
