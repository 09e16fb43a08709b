"""`TaskEngine`: what runs tasks on a cluster. `connect` makes one from what a user calls it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from steelyard._messages import did_you_mean
from steelyard._parameters import Parameter
from steelyard.io.errors import InputError

KINDS = ("local", "ray", "dask")


class TaskEngine(Protocol):
    """Tasks are functions of their arguments alone: one that was lost is computed again, to the same end."""

    def put(self, value: Any) -> Any:
        """Make a value known to all workers; returns a handle of it."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Compute a function; returns a handle at once. Handles in arguments stand for their values."""
        ...

    def result(self, handle: Any, watched: Sequence[Any], finished: Callable[[], None]) -> Any:
        """The value of a handle; calls `finished` whenever one of those watched is there."""
        ...

    def close(self) -> None:
        """Stop what was started for it."""
        ...


def connect(where: str) -> TaskEngine:
    """`local`, `local:4` for four processes, `ray`, `ray://HOST:PORT`, `dask` or `dask://HOST:PORT`."""
    asked = Parameter("engine", where)
    kind, _, rest = where.partition(":")
    if kind not in KINDS:
        raise InputError(
            f"there is no cluster {where!r}; it is one of {', '.join(KINDS)}{did_you_mean(kind, KINDS)}"
        )
    if kind == "local":
        from steelyard.distributed.local import LocalEngine

        if rest and not (rest.isdigit() and int(rest) > 0):
            raise InputError(asked, ": local:4 means four processes on this machine")
        return LocalEngine(int(rest) if rest else None)
    if rest and not rest.startswith("//"):
        raise InputError(asked, f": an address is written {kind}://HOST:PORT")
    try:
        if kind == "ray":
            from steelyard.distributed.ray_engine import RayEngine

            return RayEngine(where if rest else None)
        from steelyard.distributed.dask_engine import DaskEngine

        return DaskEngine("tcp:" + rest if rest else None)
    except ModuleNotFoundError as error:
        raise InputError(asked, f" needs {error.name}: pip install 'steelyard[{kind}]'") from None
