"""HTTP requests, read strictly: what a proxy might read differently is refused.

A proxy and a server that disagree on where a request ends let a client hide one request in another. So the
length of a body is told in one way, by one Content-Length, and every line of a head has one reading.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from io import BufferedIOBase

MOST_HEAD = 1 << 15  # bytes
_FIRST_LINE = re.compile(rb"([A-Z]+) (/[!-~]*) HTTP/1\.([01])\r\n")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ \t!-~\x80-\xff]*?)[ \t]*\r\n")
_LENGTH = re.compile("[0-9]{1,18}")
_CONTINUE = "100-continue"


class BadRequestError(Exception):
    """A request that is refused; its connection is closed."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(f"{status.phrase}: {why}")
        self.status = status


@dataclass(frozen=True)
class RequestHead:
    """The head of a request."""

    method: str
    path: str
    newest: bool
    """Whether the client speaks HTTP/1.1, where connections stay open and answers may come in chunks."""
    fields: dict[str, list[str]]
    """All values of each field, by its name in lower case."""
    size: int
    """Bytes of the body, which follows."""

    @property
    def stays(self) -> bool:
        """Whether the client may send another request."""
        tokens = ",".join(self.values("connection")).lower().split(",")
        return self.newest and "close" not in map(str.strip, tokens)

    @property
    def waits(self) -> bool:
        """Whether the client sends the body once it is told to go on."""
        return self.newest and bool(self.values("expect"))

    def values(self, name: str) -> list[str]:
        return self.fields.get(name, [])


def read_head(stream: BufferedIOBase, most_bytes: int) -> RequestHead:
    """Read up to the blank line that ends the head; refuse bodies of more than `most_bytes`."""
    line, rest = _read_line(stream, MOST_HEAD)
    first = _FIRST_LINE.fullmatch(line)
    if first is None:
        raise BadRequestError(
            HTTPStatus.BAD_REQUEST, "the first line must be a method, a path and HTTP/1.1, and end with CR LF"
        )
    fields: dict[str, list[str]] = {}
    while True:
        line, rest = _read_line(stream, rest)
        if line == b"\r\n":
            break
        field = _FIELD.fullmatch(line)
        if field is None:
            raise BadRequestError(
                HTTPStatus.BAD_REQUEST,
                "a line of the head must be a name, a colon and a value, and end with CR LF",
            )
        fields.setdefault(field[1].decode().lower(), []).append(field[2].decode("latin-1"))
    method = first[1].decode()
    if any(value.lower() != _CONTINUE for value in fields.get("expect", [])):
        raise BadRequestError(HTTPStatus.EXPECTATION_FAILED, f"only {_CONTINUE} can be expected")
    size = _size(method, fields, most_bytes)
    return RequestHead(method, first[2].decode(), first[3] == b"1", fields, size)


def _read_line(stream: BufferedIOBase, rest: int) -> tuple[bytes, int]:
    """The next line, and how many bytes the head may still have."""
    line = stream.readline(rest + 1)
    if len(line) > rest:
        raise BadRequestError(
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"a head has at most {MOST_HEAD:,} bytes"
        )
    return line, rest - len(line)


def _size(method: str, fields: dict[str, list[str]], most_bytes: int) -> int:
    given = fields.get("content-length", [])
    need = f"a body needs one Content-Length of at most {most_bytes:,} bytes"
    if "transfer-encoding" in fields:
        status = HTTPStatus.BAD_REQUEST if given else HTTPStatus.LENGTH_REQUIRED
        raise BadRequestError(status, f"{need}, and no Transfer-Encoding")
    if not given:
        if method == "POST":
            raise BadRequestError(HTTPStatus.LENGTH_REQUIRED, need)
        return 0
    if len(given) > 1 or not _LENGTH.fullmatch(given[0]):
        raise BadRequestError(HTTPStatus.BAD_REQUEST, need)
    if int(given[0]) > most_bytes:
        raise BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, need)
    return int(given[0])
