"""`python -m steelyard.building FOLDER`: the library for all levels; without FOLDER, what the cache lacks."""

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
            build_library(Path(folder), processor.all_levels(), Path(objects or temporary), _say)
    else:
        fill_cache(_say)
    sys.stderr.write(f" in {time.monotonic() - began:.0f} s\n")


def _say(done: int, total: int) -> None:
    """One line, written anew on a terminal, once at the end elsewhere."""
    if sys.stderr.isatty() or done == total:
        sys.stderr.write(f"\rsteelyard: compiled {done} of {total} functions")


if __name__ == "__main__":
    main(*sys.argv[1:])
