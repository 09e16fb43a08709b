"""Requests to the page of `active label`, in process: no error of the server, no label made up."""

import json
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from fuzzing.text_pieces import VALUES, damage
from steelyard.labelling.app import LabellingApp
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import CLASSES, begin
from tests.labelling.web import WebClient

_ACTIONS = ["label", "undo", "certify", "give-up", "budget"]
_READS = ["about", "next", "state", "document", "search", "recent", "download"]
_USUAL: dict[str, Any] = {
    "client": "tab", "annotator": "ann", "item": 3, "label": "ham", "measure": "error", "target": 0.4,
    "budget": 70, "text": "free", "kind": "csv",
}  # fmt: skip


class PageRequests:
    """An input is a method, a path, a body and headers, as JSON."""

    def __init__(self, folder: Path) -> None:
        self._session = LabellingSession(begin(folder))
        self._session.start()
        token = self._session.project.settings.token
        self._web = WebClient(LabellingApp(self._session).starlette(), f"http://127.0.0.1:8766/{token}/")

    def draw(self, chance: Random) -> bytes:
        given = dict(_USUAL)
        for name in chance.sample(sorted(given), chance.choice([0, 1, 2, 4])):
            given[name] = chance.choice([*VALUES, 5, "spam", "recall", "precision", 119, 120, -1])
        if chance.random() < 0.1:
            del given[chance.choice(sorted(given))]
        headers = {"content-type": "application/json"}
        if chance.random() < 0.2:
            name = chance.choice(["host", "origin", "sec-fetch-site", "content-type", "content-length"])
            headers[name] = chance.choice(
                ["evil.example", "", "9" * 30, "-1", "x" * 3000, "http://127.0.0.1"]
            )
        if chance.random() < 0.5:
            body = json.dumps(given).encode()
            body = damage(body, [body], chance) if chance.random() < 0.3 else body
            return json.dumps(
                ["POST", f"api/{chance.choice(_ACTIONS)}", body.decode("latin-1"), headers]
            ).encode()
        query = "&".join(f"{name}={quote(str(value), errors='replace')}" for name, value in given.items())
        path = chance.choice(
            [f"api/{each}" for each in _READS] + ["", "page.js", "../x", "%2e%2e/%2e%2e/etc"]
        )
        return json.dumps(["GET", f"{path}?{query}", "", headers]).encode()

    def check(self, data: bytes) -> int:
        method, path, body, headers = json.loads(data)
        reply = self._web.request(method, path, content=body.encode("latin-1"), headers=headers)
        assert reply.status_code in (200, 307, 400, 403, 404, 405, 413), (reply.status_code, reply.text)
        assert "Traceback" not in reply.text
        if reply.headers.get("content-type", "").startswith("application/json"):
            json.loads(reply.text)
        session = self._session
        assert set(session.book.counts) <= {None, *CLASSES}, session.book.counts
        assert all(0 <= item < 120 for item in session.labels)
        return 1


TARGETS = {"page": PageRequests}
