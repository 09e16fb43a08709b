"""Where results go, looked at before the work is done: somewhere that can be written, and is not read."""

import os
from collections.abc import Sequence
from pathlib import Path

from steelyard.io.errors import InputError


def check(outputs: Sequence[Path | None], inputs: Sequence[str | Path]) -> None:
    """Those that are asked for. A file is written under another name first, so nothing else would object."""
    for output in outputs:
        if output is None:
            continue
        folder = output.parent
        if not folder.is_dir():
            raise InputError(f"{output}: there is no folder {str(folder)!r}; make it first")
        if not os.access(folder, os.W_OK):
            raise InputError(f"{output}: the folder {str(folder)!r} may not be written to")
        if output.is_file() and any(Path(each).is_file() and output.samefile(each) for each in inputs):
            raise InputError(
                f"{output}: is read, and would be replaced by what is written; name another file"
            )
