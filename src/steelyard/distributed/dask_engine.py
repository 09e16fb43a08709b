"""`DaskEngine`: the tasks of a cluster on Dask. Dask repeats tasks whose worker died, and what they need."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from distributed import Client, KilledWorker, LocalCluster, as_completed

_MOST_TRIES = 100  # of a task whose worker died, each time for several tries of Dask's own


class DaskEngine:
    """Connects to a scheduler, or starts a cluster on this machine, which ends with it."""

    def __init__(self, address: str | None = None) -> None:
        self._cluster = None
        if address is None:
            self._cluster = LocalCluster(threads_per_worker=1, dashboard_address=None)
        self._client = Client(self._cluster or address)

    def put(self, value: Any) -> Any:
        """Make the value a task: data that was only scattered would be lost with the workers that hold it."""
        return self.submit(_itself, value)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(function, *arguments, pure=False)

    def result(self, handle: Any, watched: Sequence[Any], finished: Callable[[], None]) -> Any:
        for _ in as_completed(watched):
            finished()
        for _ in range(_MOST_TRIES):
            try:
                return handle.result()
            except KilledWorker:
                self._client.retry([*watched, handle])
        return handle.result()

    def close(self) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _itself(value: Any) -> Any:
    return value
