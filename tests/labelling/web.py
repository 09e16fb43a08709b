"""Requests to an ASGI application in this process."""

import asyncio
from typing import Any

import httpx


class WebClient:
    """As a browser would make them, one after another."""

    def __init__(self, app: Any, base_url: str) -> None:
        self._app, self._base = app, base_url

    def request(self, method: str, address: str, **given: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport, base_url=self._base) as client:
                return await client.request(method, address, **given)

        return asyncio.run(send())

    def get(self, address: str, **given: Any) -> httpx.Response:
        return self.request("GET", address, **given)

    def post(self, address: str, **given: Any) -> httpx.Response:
        return self.request("POST", address, **given)
