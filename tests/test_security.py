"""Hostile names, texts, paths and requests: nothing of them runs, and nothing is written elsewhere."""

import ast
import http.client
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from steelyard.filtering import filter_files
from steelyard.io.errors import InputError
from tests.cli.running import run
from tests.cli.test_serve import PATIENCE, serving
from tests.filtering.corpus import models, rows, write_jsonl

__all__ = ["models"]
SOURCES = sorted((Path(__file__).parent.parent / "src").rglob("*.py"))
UNSAFE = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
HOSTILE = "\"'></script><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def called(path: Path) -> set[str]:
    calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return {each.id for each in calls if isinstance(each, ast.Name)}


@pytest.mark.no_cover
def test_nothing_is_unpickled_or_evaluated() -> None:
    """A pickle of somebody else runs what they like: there are none, in any file that is read."""
    assert len(SOURCES) > 100
    for path in SOURCES:
        assert not imported(path) & UNSAFE, path
        assert not called(path) & {"eval", "exec", "compile", "__import__"}, path


def test_the_check_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import pickle.x\nfrom joblib import load\neval('1')\n")
    assert imported(bad) & UNSAFE == {"pickle", "joblib"}
    assert called(bad) == {"eval"}


def test_pages_show_hostile_labels_names_and_texts_as_text(tmp_path: Path) -> None:
    file = tmp_path / "<img src=x onerror=alert(1)>.jsonl"
    documents = [
        {"y": HOSTILE if k % 2 else "b", f"c{HOSTILE}": f"v{HOSTILE}{k % 3}", "t": f"{HOSTILE} cheap {k}"}
        for k in range(60)
    ]
    write_jsonl(file, documents)
    run("train", file, "--label", "y", "--text", "t", "--bits", 10, "-o", tmp_path / "m")
    run("report", tmp_path / "m", file, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for part in ("<script>alert", "<img", "onerror=alert(1)>", ">49<", "http://", "https://"):
        assert part not in page.replace("&gt;", "").replace("http://www.w3.org", ""), part
    assert "&lt;script&gt;" in page


def test_outputs_of_filter_stay_in_their_folder(models: Path, tmp_path: Path) -> None:
    """Names come from the inputs, of which a link may lead anywhere and a name may climb."""
    corpus = tmp_path / "in" / "corpus"
    write_jsonl(corpus / "a.jsonl", rows(20, 1))
    outside = write_jsonl(tmp_path / "in" / "outside.jsonl", rows(20, 2))
    (corpus / "link.jsonl").symlink_to(outside)
    before = outside.read_bytes()
    given = [corpus, corpus / ".." / "outside.jsonl"]
    filter_files(models / "quality.model", given, tmp_path / "out" / "kept")
    made = {path.name for path in (tmp_path / "out" / "kept").glob("*.jsonl")}
    assert made == {"a.jsonl", "link.jsonl", "outside.jsonl"}
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]
    assert outside.read_bytes() == before


def test_records_of_a_filter_that_were_changed_are_refused(models: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in/a.jsonl", rows(20, 1))
    filter_files(models / "quality.model", tmp_path / "in", tmp_path / "out")
    record = tmp_path / "out/_steelyard/files/a.jsonl.json"
    sound = json.loads(record.read_text())
    forgeries: list[Any] = [
        {**sound, "input": "x"}, {**sound, "statistics": []}, {}, [], 7, {**sound, "sha256": None},
        "[" * 100_000,
    ]  # fmt: skip
    for damaged in forgeries:
        record.write_text(damaged if isinstance(damaged, str) else json.dumps(damaged))
        with pytest.raises(InputError, match=r"a\.jsonl\.json: is damaged; remove it"):
            filter_files(models / "quality.model", tmp_path / "in", tmp_path / "out")


def test_oversized_requests_and_slow_clients(models: Path) -> None:
    with serving(models / "quality.model", most_bytes=1000) as server:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        client.request("POST", "/predict", b"{}\n" * 1000)
        assert client.getresponse().status == 413
        client.close()
        server.client_timeout = 0.3
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as slow:
            began = time.monotonic()
            slow.sendall(b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n")
            ended = False
            while not ended and time.monotonic() - began < PATIENCE:
                try:
                    slow.sendall(b"x")
                    time.sleep(0.05)
                except OSError:
                    ended = True
            assert ended
