"""`serve`: the same answers as `predict`, whatever clients do."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli import http_server, served_model
from steelyard.cli.http_server import PredictionServer
from steelyard.cli.served_model import ServedModel
from tests.cli.running import PLAIN, refused, run

PATIENCE = 60.0  # seconds that either side may take, on a busy machine


def wait_until(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


@contextmanager
def serving(
    model: Path, told: list[str] | None = None, host: str = "127.0.0.1", **limits: Any
) -> Iterator[PredictionServer]:
    """A server on a thread, which is stopped as a signal would stop it."""
    served = ServedModel(model, None, ([] if told is None else told).append)
    served.warm_up()
    wanted = {"most_bytes": 1 << 20, "most_clients": 32, "timeout": PATIENCE} | limits
    with PredictionServer((host, 0), served, **wanted) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.drain()


def ask(
    server: PredictionServer, body: bytes | str, path: str = "/predict", **headers: str
) -> tuple[int, list[Any]]:
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    client.request(
        "POST" if path == "/predict" else "GET", path, body if path == "/predict" else None, headers
    )
    answer = client.getresponse()
    lines = answer.read().decode().splitlines()
    client.close()
    return answer.status, list(map(json.loads, lines))


def test_the_same_as_predict(file: Path, model: Path) -> None:
    raw = run("predict", model, file).stdout.splitlines()
    labels = run("predict", model, file, "--as", "label").stdout.splitlines()
    chances = run("predict", model, file, "--as", "probability").stdout.splitlines()
    with serving(model) as server:
        status, found = ask(server, file.read_bytes())
        one_by_one = [ask(server, line)[1][0] for line in file.read_text().splitlines()[:20]]
    assert status == 200
    assert one_by_one == found[:20]
    tags = [f" {each['tag']}" if "tag" in each else "" for each in found]
    pairs = list(zip(found, tags, strict=True))
    assert raw == [f"{each['prediction']:.9g}{tag}" for each, tag in pairs]
    assert labels == [each["label"] + tag for each, tag in pairs]
    assert chances == [f"{each['probabilities']['1']:.9g}{tag}" for each, tag in pairs]


def test_tables_classes_and_numbers(tmp_path: Path) -> None:
    table, numbers = tmp_path / "rows.csv", tmp_path / "numbers.vw"
    table.write_text("colour,y\n" + "red,a\nblue,b\ngreen,c\n" * 5)
    numbers.write_text("0.5 |a x\n1.7 |a y\n2.25 |a z\n")
    run("train", table, *PLAIN, "--no-calibrate", "--loss", "hinge", "-o", tmp_path / "t.model")
    run("train", numbers, *PLAIN, "-o", tmp_path / "n.model")
    with serving(tmp_path / "t.model") as server:
        _, (found, broken) = ask(server, '{"colour": "red"}\n{"colour": red}\n')
        assert ask(server, "", "/health")[1][0]["format"] == "jsonl"
    assert found["label"] == "a"
    assert list(found) == ["label", "prediction"]  # hinge loss has no probabilities
    assert set(found["prediction"]) == {"a", "b", "c"}
    assert broken["line"] == 2
    assert "not a JSON object" in broken["error"]
    with serving(tmp_path / "n.model") as server:
        _, (number,) = ask(server, "|a x")
    assert list(number) == ["prediction"]


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("colour,grün,y\n" + "red,big,a\nblue,small,b\n" * 5)
    run("train", table, *PLAIN, "--loss", "logistic", "-o", tmp_path / "m")
    lines = [
        '{"colour": "red", "grün": "big"}', '{"Colour": "red"}', '{"grün": "big", "x": 1}', "{}",
        '{"gr\\u00fcn": "big", "colour": null}', '{"colour": "grün"}',
    ]  # fmt: skip
    with serving(tmp_path / "m") as server:
        _, found = ask(server, "\n".join(lines).encode())
        assert ask(server, "", "/health")[1][0]["columns"] == ["colour", "grün"]
    assert [each.get("missing") for each in found] == [None, None, ["colour"], None, None, ["grün"]]
    assert [each.get("line") for each in found] == [None, 2, None, 4, None, None]
    assert found[1]["error"] == "has none of the columns of the model: colour, grün"
    assert "prediction" in found[2]


def test_converted_files_and_svmlight(tmp_path: Path, file: Path) -> None:
    arrow, rows = tmp_path / "rows.arrow", tmp_path / "rows.svm"
    rows.write_text("1 1:1\n-1 2:1\n")
    run("convert", file, "-o", arrow, "--bits", "12")
    run("train", arrow, *PLAIN[:-2], "--loss", "logistic", "-o", tmp_path / "a.model")
    run("train", rows, *PLAIN, "--loss", "logistic", "-o", tmp_path / "s.model")
    with serving(tmp_path / "a.model") as server:
        assert server.model.format == "vw"
        assert len(ask(server, "|a w1\n")[1]) == 1
    with serving(tmp_path / "s.model") as server:
        assert ask(server, "0 1:1\n")[1][0]["label"] == "1"


def test_rows_without_names_cannot_be_served(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = {"label": [1.0, -1.0], "indices": [[1], [2]], "values": [[1.0], [1.0]]}
    path = tmp_path / "rows.arrow"
    table = pa.table(
        {
            name: pa.array(column, pa.list_(pa.int32()) if name == "indices" else None)
            for name, column in rows.items()
        }
    )
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    run("train", path, *PLAIN, "--loss", "logistic", "-o", tmp_path / "m.model")
    assert "so it cannot read lines" in refused("serve", tmp_path / "m.model", "--port", 0)


def test_errors_by_line(model: Path) -> None:
    with serving(model) as server:
        status, found = ask(server, "1 |a w1\nbad\n\n|a w2\nworse |a\n|a w3:x\n1 'tag|a w4")
    assert status == 200
    assert [min(each) for each in found] == ["label", "error", "label", "error", "error", "label"]
    assert [each["line"] for each in found if "error" in each] == [2, 5, 6]
    assert found[1]["error"].startswith("there is no | in this line") or "bad" in found[1]["error"]
    assert found[-1]["tag"] == "tag"


def test_paths_and_methods(model: Path) -> None:
    with serving(model) as server:
        health = ask(server, "", "/health")[1][0]
        assert (health["status"], health["model"], health["requests"]) == ("ok", str(model), 0)
        assert ask(server, "", "/nothing") == (404, [{"error": "there are POST /predict and GET /health"}])
        client = http.client.HTTPConnection("127.0.0.1", server.port)
        for method, path, status in [
            ("GET", "/predict", 405),
            ("POST", "/", 404),
            ("PUT", "/predict", 405),
            ("POST", "/health", 405),
            ("HEAD", "/health", 200),
            ("HEAD", "/x", 404),
        ]:
            client.request(method, path, b"")
            answer = client.getresponse()
            assert bool(answer.read()) == (method != "HEAD")
            assert answer.status == status
        client.close()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "[::2]:80"])
def test_other_hosts(model: Path, host: str) -> None:
    with serving(model) as server:
        assert ask(server, "|a w1", Host=host)[0] == 403
        assert ask(server, "", "/health", Host=host)[0] == 403
        for mine in ("localhost:80", "LOCALHOST", "127.0.0.1", "[::1]:9"):
            assert ask(server, "|a w1", Host=mine)[0] == 200


def test_an_address_for_everybody_has_any_name(model: Path) -> None:
    with serving(model, host="0.0.0.0") as server:
        assert ask(server, "|a w1", Host="cluster.example")[0] == 200


def test_the_url_of_the_newer_protocol(model: Path) -> None:
    try:
        with serving(model, host="::1") as server:
            assert server.url == f"http://[::1]:{server.port}"
    except OSError:
        pytest.skip("there is no IPv6 here")


def talk(server: PredictionServer, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send bytes as they are; returns all that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        for part in parts:
            client.sendall(part)
            time.sleep(pause)
        found = b""
        while part := client.recv(1 << 16):
            found += part
        return found


def test_sizes(model: Path) -> None:
    head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"
    with serving(model, most_bytes=100) as server:
        for length, code in (
            (b"Content-Length: 101\r\n", b"413 "),
            (b"", b"411 "),
            (b"Transfer-Encoding: chunked\r\n", b"411 "),
            (b"Content-Length: -1\r\n", b"400 "),
        ):
            answer = talk(server, head + length + b"\r\n")
            assert code in answer
            assert b"at most 100 bytes" in answer
        assert ask(server, "|a w1")[0] == 200


def test_a_client_that_waits_before_its_body(model: Path) -> None:
    head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 5\r\n"
    with serving(model) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
            client.sendall(head + b"Expect: 100-continue\r\n\r\n")
            assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            client.sendall(b"|a w1")
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        assert b"417 " in talk(server, head + b"Expect: a miracle\r\n\r\n|a w1")


@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
def test_long_requests_are_answered_in_parts(
    model: Path, version: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers, numbers of lines included, are those to the whole text."""
    text = b"|a w1\nbad\n\n" + b"\n" * 200 + b"|a w2\nworse |a"
    with serving(model) as server:
        wanted = b"".join(server.model.answer(text))
        for module in (http_server, served_model):
            monkeypatch.setattr(module, "PART", 7)
        assert [part.count(b"\n") for part in server.model.answer(text)][:2] == [2, 0]
        assert b"".join(server.model.answer(text)) == wanted
        assert ask(server, text)[1] == list(map(json.loads, wanted.splitlines()))
        head = b"POST /predict HTTP/%b\r\nHost: localhost\r\nConnection: close\r\n" % version
        found = talk(server, head + b"Content-Length: %d\r\n\r\n" % len(text) + text)
        assert server.answered == 2
    assert (b"\r\nTransfer-Encoding: chunked\r\n" in found) == (version == b"1.1")
    assert found.endswith(b"\r\n0\r\n\r\n" if version == b"1.1" else b"\r\n\r\n" + wanted)


def test_work_ends_when_the_client_has_left(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(model) as server:
        parts, gone = [], threading.Event()

        def answer(text: bytes) -> Iterator[bytes]:
            for number in range(10_000):
                parts.append(number)
                yield b"{}\n" * 10_000
                if number == 0:
                    assert gone.wait(PATIENCE)

        monkeypatch.setattr(server.model, "answer", answer)
        text = b"\n" * (served_model.PART + 1)
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
            client.sendall(
                b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(text) + text
            )
            assert client.recv(5) == b"HTTP/"
        gone.set()
        wait_until(lambda: not server._open)
        assert len(parts) < 1000
        assert server.answered == 0


def test_a_client_that_does_not_read_is_left(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(model, timeout=0.2) as server:
        monkeypatch.setattr(server.model, "answer", lambda text: iter([b"{}\n" * (1 << 24)]))
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
            client.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            wait_until(lambda: server.answered)
            wait_until(lambda: not server._open)


def test_slow_clients(model: Path) -> None:
    with serving(model, timeout=0.2) as server:
        assert talk(server) == b""  # says nothing
        head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"
        with pytest.raises(ConnectionError):  # never quite silent
            talk(server, head, *[b"|"] * int(10.0 * PATIENCE), pause=0.1)
        with pytest.raises(ConnectionError):  # not even in the first line
            talk(server, *[b"P"] * int(10.0 * PATIENCE), pause=0.1)
        server.client_timeout = PATIENCE  # for one that may be slow by chance
        assert ask(server, "|a w1")[0] == 200


def test_one_client_too_many(model: Path) -> None:
    with serving(model, most_clients=1) as server:
        held = socket.create_connection(("127.0.0.1", server.port))
        wait_until(lambda: server._open)
        assert b"503 " in talk(server)
        held.close()
        wait_until(lambda: not server._open)
        assert ask(server, "|a w1")[0] == 200


def test_there_is_room_as_soon_as_a_client_is_gone(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sees that nobody is connected is not one too many."""
    with serving(model, most_clients=1) as server:
        room: list[bool] = []
        usual = server._free.release

        def release() -> None:
            room.append(server._changed._is_owned())  # type: ignore[attr-defined]
            usual()

        monkeypatch.setattr(server._free, "release", release)
        assert ask(server, "|a w1")[0] == 200
        wait_until(lambda: room)
    assert room == [True], "nobody can look between the end of the connection and the room"


def test_clients_at_once(file: Path, model: Path) -> None:
    lines = file.read_text().splitlines()
    with serving(model) as server:
        wanted = ask(server, file.read_bytes())[1]

        def client(first: int) -> bool:
            found = [ask(server, "\n".join(lines[k : k + 7]))[1] for k in range(first, 190, 8)]
            return found == [wanted[k : k + 7] for k in range(first, 190, 8)]

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(client, range(8)))
        assert ask(server, "", "/health")[1][0]["requests"] == server.answered == 1 + 190


def test_a_model_that_is_replaced(file: Path, model: Path, tmp_path: Path) -> None:
    told: list[str] = []
    with serving(model, told) as server:
        before = ask(server, "|a w1")[1]
        run("train", file, "--resume", model, "-o", model)
        after = ask(server, "|a w1")[1]
        assert before != after
        assert server.model.loads == 2
        broken = tmp_path / "broken"
        broken.write_bytes(b"nonsense")
        broken.replace(model)
        assert ask(server, "|a w1")[1] == after
        model.unlink()
        assert ask(server, "|a w1")[1] == after
    assert told[0] == f"{model} was replaced and reloaded"
    assert "cannot be used; the previous model stays" in told[1]
