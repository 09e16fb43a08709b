"""`errors`: what goes wrong in a command ends in a line, not in a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from steelyard.cli.common import restored_interrupts
from steelyard.cli.wording import error_text


@contextmanager
def errors() -> Iterator[None]:
    """Errors in the input or the options end in a line, not in a traceback."""
    try:
        with restored_interrupts():
            yield
    except (ValueError, FloatingPointError, ImportError) as error:
        raise click.ClickException(error_text(error)) from error
    except MemoryError as error:
        raise click.ClickException(f"not enough memory ({error}); fewer --bits need less") from error
    except BrokenPipeError:  # the reader of our output has had enough: no error
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{where}{error.strerror or error}") from error
