"""Ctrl-C that got lost: where Numba calls Python from within, it makes other errors of an interrupt."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def found() -> Iterator[None]:
    """Such an error is an interrupt again."""
    try:
        yield
    except TypeError as error:
        if "_get_wrapper_address" in str(error):  # while a pointer was taken over
            raise KeyboardInterrupt from error
        raise
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # while a kernel returned
            raise KeyboardInterrupt from error
        raise
