"""Requests to `serve`: any bytes are answered or the connection ends, and the next client is served."""

import json
import socket
import threading
from pathlib import Path
from random import Random

from fuzzing.commands import documents, must
from fuzzing.text_pieces import damage
from steelyard.cli.http_server import PredictionServer
from steelyard.cli.served_model import ServedModel

_LINE = b'{"text": "buy now", "language": "en"}\n'
_CODES = {200, 400, 403, 404, 405, 411, 413, 417, 431}


class Requests:
    def __init__(self, folder: Path) -> None:
        model = folder / "model"
        must("train", documents(folder), "--label", "quality", "--bits", 8, "-o", model)
        served = ServedModel(model, None, lambda line: None)
        self._server = PredictionServer(
            ("127.0.0.1", 0), served, most_bytes=1 << 16, most_clients=8, timeout=5.0
        )
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        host = f"Host: 127.0.0.1:{self._server.port}\r\n".encode()
        head = b"POST /predict HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: "
        self._sound = head + str(len(_LINE)).encode() + b"\r\n\r\n" + _LINE
        self._requests = [
            self._sound,
            self._sound * 3,
            b"GET /health HTTP/1.1\r\n" + host + b"\r\n",
            b"GET /../../etc/passwd HTTP/1.0\r\n" + host + b"\r\n",
            b"POST /predict HTTP/1.1\r\n"
            + host
            + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}\n{}\r\n0\r\n\r\n",
            head + b"99999999999999999999999\r\n\r\n" + _LINE,
            head + b"-5\r\n\r\n" + _LINE,
            head + b"5\r\nContent-Length: 0\r\n\r\n" + _LINE,
            b"GET /health HTTP/1.1\r\n" + host + b"Content-Length: 38\r\n\r\n" + _LINE,
            b"GET /health HTTP/1.1\r\n" + host + b"Transfer-Encoding : chunked\r\n\r\n",
            b"GET /health HTTP/1.1\r\nHost: localhost:80@evil.example\r\nOrigin: null\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
        ]
        self._answer = self._ask(self._sound)
        assert self._answer.startswith(b"HTTP/1.1 200")

    def draw(self, chance: Random) -> bytes:
        return damage(chance.choice(self._requests), self._requests, chance)

    def check(self, data: bytes) -> int:
        found = self._ask(data)
        if found.startswith(b"HTTP/"):
            code = int(found.split(b" ", 2)[1])
            assert code in _CODES, found
            head, _, body = found.partition(b"\r\n\r\n")
            size = int(head.partition(b"\r\nContent-Length: ")[2].split(b"\r\n")[0])
            for line in body[:size].splitlines() if code == 200 else ():
                json.loads(line)
        again = self._ask(self._sound)
        assert again.splitlines()[-1] == self._answer.splitlines()[-1], again
        return 1

    def _ask(self, data: bytes) -> bytes:
        """Send, say that this was all, and read to the end."""
        with socket.create_connection(("127.0.0.1", self._server.port), timeout=20.0) as client:
            parts = []
            try:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                while part := client.recv(1 << 16):
                    parts.append(part)
            except (ConnectionError, BrokenPipeError):  # it had enough before we had said everything
                pass
            return b"".join(parts)


TARGETS = {"serve": Requests}
