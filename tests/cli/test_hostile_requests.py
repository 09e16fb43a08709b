"""Requests that a proxy may read in another way than `serve`: refused and cut off, or read exactly."""

import json
import re
from collections.abc import Iterator

import pytest

from steelyard.cli.http_server import PredictionServer
from tests.cli.running import PLAIN, rows, run
from tests.cli.test_serve import serving, talk

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_HOST = b"Host: localhost\r\n"


def get(*fields: bytes, body: bytes = HIDDEN) -> bytes:
    return b"GET /health HTTP/1.1\r\n" + b"".join(field + b"\r\n" for field in fields) + b"\r\n" + body


def post(*fields: bytes, body: bytes = HIDDEN) -> bytes:
    return get(b"Host: localhost", *fields, body=body).replace(b"GET /health", b"POST /predict", 1)


SIZE = b"Content-Length: %d" % len(HIDDEN)
REFUSED = {
    "two lengths": post(SIZE, b"Content-Length: 0"),
    "two equal lengths": post(SIZE, SIZE),
    "a list of lengths": post(SIZE + b", %d" % len(HIDDEN)),
    "lengths that differ in case": post(SIZE, b"content-length: 0"),
    "a signed length": post(b"Content-Length: +5"),
    "a negative length": post(b"Content-Length: -5"),
    "a hexadecimal length": post(b"Content-Length: 0x10"),
    "a length with digits of others": post("Content-Length: ٥".encode()),
    "a length with an underscore": post(b"Content-Length: 1_0"),
    "a huge length": post(b"Content-Length: 1" + b"0" * 40),
    "a large body, much of which comes": post(b"Content-Length: 900000000000", body=b"x" * 400_000),
    "an empty length": post(b"Content-Length: "),
    "no length": post(),
    "chunks": post(b"Transfer-Encoding: chunked", body=b"0\r\n\r\n" + HIDDEN),
    "chunks and a length": post(SIZE, b"Transfer-Encoding: chunked", body=b"0\r\n\r\n" + HIDDEN),
    "chunks of a GET": get(b"Host: localhost", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n" + HIDDEN),
    "another encoding": post(SIZE, b"Transfer-Encoding: xchunked"),
    "identity": post(SIZE, b"Transfer-Encoding: identity"),
    "a blank before the colon": post(SIZE, b"Transfer-Encoding : chunked"),
    "a tab before the colon": post(SIZE, b"Transfer-Encoding\t: chunked"),
    "a length with a blank before the colon": post(b"Content-Length : 5"),
    "a continued line": post(SIZE, b"X: y", b" Transfer-Encoding: chunked"),
    "a field before the first": post(b" Content-Length: 0", SIZE),
    "a name with a zero byte": post(SIZE, b"Transfer-Encoding\0: chunked"),
    "a value with a zero byte": post(SIZE, b"X: \0"),
    "a bare CR in a value": post(SIZE, b"X: y\rTransfer-Encoding: chunked"),
    "a bare LF": post(SIZE, b"X: y\nTransfer-Encoding: chunked"),
    "a head that ends with bare LF": post(SIZE).replace(b"\r\n", b"\n"),
    "no colon": post(SIZE, b"Transfer-Encoding"),
    "no name": post(SIZE, b": chunked"),
    "two hosts": get(b"Host: localhost", b"Host: evil.example"),
    "two equal hosts": get(b"Host: localhost", b"Host: localhost"),
    "no host": get(),
    "a host with a user": get(b"Host: localhost:80@evil.com"),
    "a list of hosts": get(b"Host: localhost, evil.com"),
    "another host": get(b"Host: evil.com"),
    "another origin": get(b"Host: localhost", b"Origin: http://evil.com"),
    "no origin, as of a file": get(b"Host: localhost", b"Origin: null"),
    "a page of another site": get(b"Host: localhost", b"Sec-Fetch-Site: cross-site"),
    "a target with a host": b"GET http://evil.com/health HTTP/1.1\r\n" + _HOST + b"\r\n" + HIDDEN,
    "a target without a path": b"GET health HTTP/1.1\r\n" + _HOST + b"\r\n" + HIDDEN,
    "a target with a blank": b"GET /health /x HTTP/1.1\r\n" + _HOST + b"\r\n" + HIDDEN,
    "two blanks": b"GET  /health HTTP/1.1\r\n" + _HOST + b"\r\n" + HIDDEN,
    "no version": b"GET /health\r\n" + _HOST + b"\r\n" + HIDDEN,
    "an old version": b"GET /health HTTP/0.9\r\n" + _HOST + b"\r\n" + HIDDEN,
    "a new version": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + HIDDEN,
    "a method in small letters": b"get /health HTTP/1.1\r\n" + _HOST + b"\r\n" + HIDDEN,
    "a connection to elsewhere": b"CONNECT evil.com:443 HTTP/1.1\r\nHost: evil.com\r\n\r\n" + HIDDEN,
    "a blank line first": b"\r\n" + LAST,
    "encrypted": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n" + HIDDEN,
    "a long head": get(b"Host: localhost", *[b"X: " + b"y" * 1000] * 40),
    "a long line": get(b"Host: localhost", b"X: " + b"y" * 40_000),
    "an endless first line": b"GET /" + b"y" * 40_000,
}
CONSUMED = {
    "a GET with a body": get(b"Host: localhost", SIZE),
    "a HEAD with a body": get(b"Host: localhost", SIZE).replace(b"GET", b"HEAD", 1),
    "a DELETE with a body": get(b"Host: localhost", SIZE).replace(b"GET", b"DELETE", 1),
    "a POST that looks like a request": post(SIZE),
    "a path that is not there": post(SIZE).replace(b"/predict", b"/x", 1),
    "a field that is not a length": post(SIZE, b"Content_Length: 0", b"X-Content-Length: 0"),
    "a protocol to change to": post(SIZE, b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c"),
    "a name in capitals": post(b"CONTENT-LENGTH:\t%d \t" % len(HIDDEN)),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PredictionServer]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "rows.vw").write_text(rows(50))
    run("train", folder / "rows.vw", "--loss", "logistic", *PLAIN, "-o", folder / "m")
    with serving(folder / "m") as found:
        yield found


def codes(answers: bytes) -> list[int]:
    """The codes of answers that follow one another."""
    found = []
    while answers:
        head, _, rest = answers.partition(b"\r\n\r\n")
        found.append(int(re.match(rb"HTTP/1\.1 (\d{3}) ", head)[1]))  # type: ignore[index]
        size = int(re.search(rb"\r\nContent-Length: (\d+)", head)[1])  # type: ignore[index]
        bodiless = rest[:4] == b"HTTP" or not rest
        if not bodiless:
            for line in rest[:size].splitlines():
                json.loads(line)
        answers = rest if bodiless else rest[size:]
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_be_read_in_two_ways_ends_the_connection(server: PredictionServer, name: str) -> None:
    """Nothing behind it is taken for a request, and neither is what came before lost."""
    first = post(b"Content-Length: 5", body=b"|a w1")
    before, (code, *more) = (
        codes(talk(server, first + REFUSED[name] + LAST))[:1],
        codes(talk(server, REFUSED[name] + LAST)),
    )
    assert before == [200]
    assert 400 <= code < 500
    assert more == []


@pytest.mark.parametrize("name", CONSUMED)
def test_bodies_are_consumed(server: PredictionServer, name: str) -> None:
    code, *more = codes(talk(server, CONSUMED[name] + LAST))
    assert code in (200, 404, 405)
    assert more == [200]


def test_bodies_of_bad_lines(server: PredictionServer) -> None:
    """64 kB of them took eleven seconds."""
    text = b"1\n" * 32_768
    found = talk(server, post(b"Content-Length: %d" % len(text), b"Connection: close", body=text))
    assert found.count(b'"error"') == 32_768
    assert b'"line": 32768}' in found
