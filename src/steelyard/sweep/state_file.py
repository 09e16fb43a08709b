"""`StateFile`: where a search keeps how far it is, so that it can go on."""

import json
import time
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from steelyard import _atomic_files

_FORMAT = 3
_ABOUT = "about"
_SHARE_OF_TIME = 0.05  # that writing may take


class StateFile:
    """How far a search is, in a file that is replaced in one move.

    The file is a NumPy archive (npz), written without a copy of the arrays in memory and read without pickle; one
    of the arrays is a JSON text. `identity` says what is searched and where: a state of something else is
    refused. `every` is how many seconds pass from one state to the next, if writing it does not take long.
    """

    def __init__(self, path: Path, identity: dict[str, Any], every: float) -> None:
        if path.exists() and not path.is_file():
            raise ValueError(f"{path}: is not a file; the state of a sweep needs a file name")
        self.path = path
        self._identity = json.loads(json.dumps(identity))
        self._every = every
        self._due = time.monotonic() + every

    @property
    def due(self) -> bool:
        return time.monotonic() >= self._due

    def expire(self) -> None:
        """Something is done that ought to be kept at the next occasion."""
        self._due = time.monotonic()

    def save(self, position: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        began = time.monotonic()
        about = json.dumps({"format": _FORMAT, "identity": self._identity, "position": position})
        with _atomic_files.replacing(self.path) as temporary, temporary.open("wb") as file:
            named: dict[str, Any] = {_ABOUT: np.frombuffer(about.encode(), np.uint8), **arrays}
            np.savez(file, **named)
        ended = time.monotonic()
        self._due = ended + max(self._every, (ended - began) / _SHARE_OF_TIME)

    def load(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """What was saved; None if there is no such file yet."""
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            about = json.loads(arrays.pop(_ABOUT).tobytes())
            form, identity, position = about["format"], about["identity"], dict(about["position"])
        except (OSError, ValueError, LookupError, TypeError, EOFError, AttributeError, BadZipFile) as error:
            raise ValueError(
                f"{self.path}: not the state of a sweep, or a damaged one ({error!r}); "
                "name another file, or remove this one"
            ) from None
        if form != _FORMAT:
            raise ValueError(f"{self.path}: written by another release of steelyard; remove it to start over")
        for name in {**identity, **self._identity}:
            if identity.get(name) != self._identity.get(name):
                raise ValueError(
                    f"{self.path}: the state of another sweep, whose {name} differed: "
                    "continue with the same, or remove the file to start over"
                )
        return position, arrays

    def remove(self) -> None:
        _atomic_files.remove(self.path)
