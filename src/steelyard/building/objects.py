"""Compile everything in the table, in several processes, and link it into one library for each level.

An object is named by a digest of its sources, so building again compiles only what has changed.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any

from steelyard._atomic_files import replacing
from steelyard.building import table
from steelyard.native import code, compiler, library, linking

Progress = Callable[[int, int], None]

# These take seconds each. They come first, so that no process is left with one of them at the end.
_LONG = ("adaptive_lanes.learn", "standardized.learn", "adaptive.learn", "delimited.parse", "jsonl.parse")


def build_library(folder: Path, levels: Sequence[str], objects: Path, progress: Progress) -> list[Path]:
    """Write a library for each level into the folder; returns the files."""
    for each in (folder, objects):
        each.mkdir(parents=True, exist_ok=True)
    made = sorted(_all(partial(_objects_of, levels, objects), progress))  # the same bits, whoever was first
    return [
        linking.link([files[k] for files in made], folder / library.file_name(level))
        for k, level in enumerate(levels)
    ]


def fill_cache(progress: Progress) -> None:
    """Compile what the cache lacks, for this processor."""
    for _ in _all(_address_of, progress):
        pass


def _all(make: Callable[[str], Any], progress: Progress) -> Iterator[Any]:
    names = sorted(table.entries(), key=lambda name: not any(long in name for long in _LONG))
    # New processes, not copies of this one, which may have threads.
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for done, made in enumerate(pool.imap_unordered(make, names), start=1):
            progress(done, len(names))
            yield made


def _objects_of(levels: Sequence[str], objects: Path, name: str) -> list[Path]:
    entry, symbol = table.entries()[name], library.symbol_of(name)
    files = [objects / (code.digest(entry, level) + linking.OBJECT) for level in levels]
    if not all(file.exists() for file in files):
        text = entry.llvm(symbol)
        for level, file in zip(levels, files, strict=True):
            with replacing(file) as temporary:
                temporary.write_bytes(compiler.machine_code(text, symbol, level))
    return files


def _address_of(name: str) -> int:
    with redirect_stderr(None):  # progress counts functions instead
        return code.address(table.entries()[name])
