"""`python -m steelyard.building FOLDER` builds the library for all levels; without FOLDER it fills the cache."""

import sys
import tempfile
import time
from pathlib import Path

from steelyard.building.objects import build_library, fill_cache
from steelyard.native import processor


def main(folder: str = "", objects: str = "") -> None:
    began = time.monotonic()
    if folder:
        with tempfile.TemporaryDirectory() as temporary:
            build_library(Path(folder), processor.all_levels(), Path(objects or temporary), _show_progress)
    else:
        fill_cache(_show_progress)
    sys.stderr.write(f" in {time.monotonic() - began:.0f} s\n")


def _show_progress(done: int, total: int) -> None:
    """Write progress on one line: updated on a terminal, elsewhere once at the end."""
    if sys.stderr.isatty() or done == total:
        sys.stderr.write(f"\rsteelyard: compiled {done} of {total} functions")


if __name__ == "__main__":
    main(*sys.argv[1:])
