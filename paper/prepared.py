"""A cache of matrices beside the results: reading text takes tens of seconds, reading the cache a moment."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from paper.rows import LabelledRows
from steelyard._atomic_files import replacing


def load_rows(folder: Path, name: str, digest: str, read: Callable[[], LabelledRows]) -> LabelledRows:
    """Load the rows from the cached file of that name and digest; if there is none, read and cache them.

    A file that is damaged, or written by an older program, is replaced.
    """
    path = folder / f"{name}-{digest[:16]}.npz"
    try:
        return _read(path)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        found = read()
    folder.mkdir(parents=True, exist_ok=True)
    _write(path, found)
    return found


def _write(path: Path, found: LabelledRows) -> None:
    about = {"first_test": found.first_test, "note": found.note}
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(
            stream,
            values=found.matrix.data,
            indices=found.matrix.indices,
            starts=found.matrix.indptr,
            shape=np.array(found.matrix.shape),
            labels=found.labels,
            about=np.array(json.dumps(about)),
        )


def _read(path: Path) -> LabelledRows:
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        matrix = sparse.csr_matrix(
            (file["values"], file["indices"], file["starts"]), shape=tuple(file["shape"])
        )
        return LabelledRows(matrix, file["labels"], **json.loads(str(file["about"])))
