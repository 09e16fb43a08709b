"""The web application of the page: a few routes behind a token, for browsers on this machine only.

Whoever knows the token may label. Requests under other names than loopback ones are refused (a web page could
have its own name point here), and so are requests from other origins. Documents are sent as JSON, and the page
makes text nodes of them: nothing in a document becomes HTML.
"""

import json
import math
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from steelyard import _web_requests
from steelyard.active.identifiers import Item
from steelyard.io.errors import InputError
from steelyard.labelling import export
from steelyard.labelling.session import LabellingSession
from steelyard.labelling.view import PageView

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STATIC = {
    "": ("page.html", "text/html"), "page.css": ("page.css", "text/css"),
    "page.js": ("page.js", "text/javascript"), "plot.js": ("plot.js", "text/javascript"),
    "server.js": ("server.js", "text/javascript"), "verdict.js": ("verdict.js", "text/javascript"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}  # fmt: skip
_DOWNLOADS = {
    "csv": "labels.csv", "jsonl": "labels.jsonl", "parquet": "labels.parquet", "xlsx": "labels.xlsx",
    "ris": "labels.ris", "label-studio": "labels.json", "prodigy": "labels.jsonl", "model": "labels.model",
    "certificate": "certificate.json",
}  # fmt: skip
_LARGEST = 1 << 16  # bytes of a request

Handler = Callable[[Request], Awaitable[Response]]


def refusal(request: Request, token: str) -> str | None:
    """Why a request is refused; None if it is answered."""
    why = _web_requests.refusal(request.headers.getlist, _web_requests.LOOPBACK)
    if why is not None:
        return why
    if not secrets.compare_digest(request.path_params["token"].encode(), token.encode()):
        return "the address is not complete: open the one that the command printed"
    return None


class LabellingApp:
    """The routes to one session."""

    def __init__(self, session: LabellingSession) -> None:
        self._session, self._view = session, PageView(session)

    def starlette(self) -> Starlette:
        actions = {
            "label": self._label, "undo": self._undo, "certify": self._certify, "give-up": self._give_up,
            "budget": self._budget, "leave": self._leave,
        }  # fmt: skip
        reads = {
            "about": self._about, "next": self._next, "state": self._state, "document": self._document,
            "search": self._search, "recent": self._recent, "download": self._download,
            "forecast": self._forecast,
        }  # fmt: skip
        routes = [Route(f"/{{token}}/api/{name}", self._guarded(read)) for name, read in reads.items()]
        routes += [
            Route(f"/{{token}}/api/{name}", self._guarded(self._acting(action)), methods=["POST"])
            for name, action in actions.items()
        ]
        routes += [Route(f"/{{token}}/{name}", self._guarded(self._static(name))) for name in _STATIC]
        return Starlette(routes=routes)

    def _guarded(self, handler: Handler) -> Handler:
        async def answer(request: Request) -> Response:
            why = refusal(request, self._session.project.settings.token)
            if why is not None:
                reply: Response = PlainTextResponse(why, 403)
            else:
                try:
                    reply = await handler(request)
                except ClientDisconnect:  # nobody waits for the answer
                    reply = Response()
                except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
                    message = f"{error} is missing" if isinstance(error, KeyError) else str(error)
                    reply = JSONResponse({"error": message}, 400)
                except ImportError as error:  # such as pyarrow
                    reply = JSONResponse({"error": str(error)}, 400)
                except OSError as error:  # such as a full disk: nothing was stored
                    reply = JSONResponse({"error": f"{error.filename}: {error.strerror}"}, 507)
            reply.headers.update(_HEADERS)
            return reply

        return answer

    def _acting(self, action: Callable[[dict[str, Any]], Any]) -> Handler:
        """Handles a request that changes something: a JSON object, which no form of another site can send."""

        async def answer(request: Request) -> Response:
            if request.headers.get("content-type", "").partition(";")[0] != "application/json":
                raise ValueError("a request has the content type application/json")
            body = b""
            async for part in request.stream():  # a request in chunks does not say its size
                body += part
                if len(body) > _LARGEST:
                    raise ValueError("the request is too large")
            given = json.loads(body)
            return JSONResponse(await run_in_threadpool(action, given))

        return answer

    def _static(self, name: str) -> Handler:
        file, kind = _STATIC[name]
        content = (files("steelyard.labelling") / "static" / file).read_bytes()

        async def answer(_: Request) -> Response:
            return Response(content, media_type=kind)

        return answer

    # Requests that read

    async def _about(self, _: Request) -> Response:
        return JSONResponse(self._view.about())

    async def _next(self, request: Request) -> Response:
        given = request.query_params
        return JSONResponse(await run_in_threadpool(self._view.next, given["client"], given["annotator"]))

    async def _state(self, request: Request) -> Response:
        given = request.query_params
        self._session.see(given["client"])
        return JSONResponse(self._view.state(given["annotator"]))

    async def _document(self, request: Request) -> Response:
        given = request.query_params
        item = Item(_whole("item", _from_text(given["item"])))
        if not 0 <= item < self._session.feed.items:
            raise ValueError(f"there is no document {item}")
        return JSONResponse(self._view.document(item, given["annotator"]))

    async def _search(self, request: Request) -> Response:
        given = request.query_params
        return JSONResponse(await run_in_threadpool(self._view.search, given["text"], given["annotator"]))

    async def _recent(self, request: Request) -> Response:
        return JSONResponse(self._view.recent(request.query_params["annotator"]))

    async def _forecast(self, request: Request) -> Response:
        given = request.query_params
        measure, target = given["measure"], _number("target", _from_text(given["target"]))
        return JSONResponse(await run_in_threadpool(self._view.forecast, measure, target))

    async def _download(self, request: Request) -> Response:
        kind = request.query_params["kind"]
        name = _DOWNLOADS[kind]
        content = await run_in_threadpool(self._exported, kind, name)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    def _exported(self, kind: str, name: str) -> bytes:
        session = self._session
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            if kind == "model":
                session.project.save_model(path, session.feed.classifier)
            elif kind == "certificate":
                export.write_certificate(session.project, path, session.feed.classifier)
            else:
                export.write(session.project, session.feed, path, kind if kind == "prodigy" else None)
            return path.read_bytes()

    # Requests that change something

    def _label(self, given: dict[str, Any]) -> dict[str, Any]:
        client, annotator = str(given["client"]), str(given["annotator"])
        self._session.label(client, annotator, Item(_whole("item", given["item"])), given["label"])
        return self._view.next(client, annotator)

    def _undo(self, given: dict[str, Any]) -> dict[str, Any]:
        client, annotator = str(given["client"]), str(given["annotator"])
        item = self._session.undo(client, annotator)
        return self._view.state(annotator) | {"question": self._view.document(item, annotator)}

    def _certify(self, given: dict[str, Any]) -> dict[str, Any]:
        self._session.certify(str(given["measure"]), _number("target", given["target"]))
        return self._view.next(str(given["client"]), str(given["annotator"]))

    def _give_up(self, given: dict[str, Any]) -> dict[str, Any]:
        self._session.give_up()
        return self._view.next(str(given["client"]), str(given["annotator"]))

    def _leave(self, given: dict[str, Any]) -> dict[str, Any]:
        self._session.leave(str(given["client"]))
        return {}

    def _budget(self, given: dict[str, Any]) -> dict[str, Any]:
        self._session.set_budget(_whole("budget", given["budget"]))
        return self._view.next(str(given["client"]), str(given["annotator"]))


def _from_text(text: str) -> Any:
    """The JSON value in an address, such as a number; any other text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _whole(name: str, given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise InputError(f"the {name} is a whole number; got {given!r}")
    return given


def _number(name: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise InputError(f"the {name} is a number; got {given!r}")
    return float(given)
