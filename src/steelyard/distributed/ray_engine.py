"""`RayEngine`: the tasks of a cluster on Ray. Ray repeats tasks whose worker died, and what they need."""

from collections.abc import Callable, Sequence
from typing import Any

import ray


class RayEngine:
    """Connects to a cluster, or starts one on this machine, which ends with it."""

    def __init__(self, address: str | None = None) -> None:
        self._started = not ray.is_initialized()
        if self._started:
            ray.init(address, include_dashboard=False, log_to_driver=False, logging_level="ERROR")

    def put(self, value: Any) -> Any:
        return ray.put(value)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return ray.remote(function).options(max_retries=-1).remote(*arguments)

    def result(self, handle: Any, watched: Sequence[Any], finished: Callable[[], None]) -> Any:
        left = list(watched)
        while left:
            done, left = ray.wait(left, num_returns=1, fetch_local=False)
            for _ in done:
                finished()
        return ray.get(handle)

    def close(self) -> None:
        if self._started:
            ray.shutdown()
