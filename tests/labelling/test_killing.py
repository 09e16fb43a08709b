"""The server of the page is killed again and again: `pytest -m soak tests/labelling`. No answer is lost."""

import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from steelyard.active.label_store import in_force
from steelyard.labelling.project import Project
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import CLASSES, begin

KILLS = int(os.environ.get("STEELYARD_KILLS", "2000"))
# One process that is served again and again would share nothing with its killed predecessors but the file; to
# start Python for each would take seconds, so each server is a fork of one that has loaded everything.
FORKER = """
import os, signal, sys
from steelyard.labelling.project import Project
from steelyard.labelling.server import bind, serve
from steelyard.labelling.session import LabellingSession
with Project(sys.argv[1]) as project:
    project.classifier()  # loads what all of them need
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        project = Project(sys.argv[1])
        listening = bind(0)
        print(os.getpid(), listening.getsockname()[1], flush=True)
        serve(LabellingSession(project), listening)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.soak
def test_kills_lose_no_answer(tmp_path: Path) -> None:
    with begin(tmp_path, 6000, budget=6000) as project:
        path, token = project.path, project.settings.token
    said: dict[int, str] = {}
    draw, kills = random.Random(0), 0
    command = [sys.executable, "-c", FORKER, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as forker:
        assert forker.stdin is not None
        assert forker.stdout is not None
        while kills < KILLS:
            forker.stdin.write("again\n")
            forker.stdin.flush()
            process, port = map(int, forker.stdout.readline().split())
            label_until_killed(process, port, token, said, draw)
            kills += 1
        forker.stdin.close()
    with Project(path) as project:
        labels = in_force(project.store.labels())
        assert {item: labels[item]["ann"].label for item in said} == said
        session = LabellingSession(project)
        session.start()
        assert session.wait()
        assert session.feed.answered == sum(item in session.feed._numbers for item in labels)
        session.close()
    print(f"{kills} kills, {len(said)} confirmed answers, {len(labels)} in the journal")  # noqa: T201


def label_until_killed(
    process: int, port: int, token: str, said: dict[int, str], draw: random.Random
) -> None:
    """Notes what was confirmed; an answer without a reply may be stored or not. Some are killed at once."""
    killer = threading.Timer(draw.uniform(0.0, 0.25), os.kill, (process, signal.SIGKILL))
    if draw.random() < 0.1:
        killer.start()
    who = {"client": "tab", "annotator": "ann"}
    deadline = time.monotonic() + 30.0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10.0)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("GET", f"/{token}/api/next?client=tab&annotator=ann")
        state = json.loads(connection.getresponse().read())
        if not killer.is_alive() and not killer.finished.is_set():
            killer.start()
        while state["question"] is not None and time.monotonic() < deadline:
            item, label = state["question"]["item"], draw.choice(CLASSES)
            body = json.dumps(who | {"item": item, "label": label})
            said.pop(item, None)  # from here on either may be stored
            connection.request("POST", f"/{token}/api/label", body, {"Content-Type": "application/json"})
            state = json.loads(connection.getresponse().read())
            said[item] = label
    if not killer.is_alive() and not killer.finished.is_set():  # it did not even answer
        killer.start()
    killer.join()
