"""The page of `active label`: its server ends at any moment, and no answer that it confirmed is lost."""

import contextlib
import http.client
import json
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from signal import SIGTERM, Signals
from typing import Any

from fuzzing.soak import circumstances
from fuzzing.soak.circumstances import Trials
from fuzzing.soak.processes import start
from steelyard.active.identifiers import Item
from steelyard.active.label_store import in_force
from steelyard.labelling.project import Project
from steelyard.labelling.server import bind, serve
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import CLASSES, answer, begin, write_table

_DOCUMENTS = 400
_WHO = {"client": "tab", "annotator": "ann"}
_GONE = (OSError, http.client.HTTPException)


class LabellingPage:
    """One journal for all kills, until it is full; then another one."""

    def __init__(self) -> None:
        self._confirmed: dict[Item, str] = {}

    def begin(self, folder: Path) -> None:
        self._new_journal(folder)
        with Project(self._path) as project:  # loads what all of them need
            session = LabellingSession(project)
            session.start()
            answer(session, 30)
            session.worker.wait()
            session.close()
        self._new_journal(folder)

    def _new_journal(self, folder: Path) -> None:
        place = folder / "project"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        self._confirmed = {}
        with begin(place, _DOCUMENTS, budget=_DOCUMENTS) as project:
            self._path, self._token = project.path, project.settings.token

    def kill(self, folder: Path, chance: Random, next_signal: Callable[[], Signals]) -> None:
        which = next_signal()
        listening = bind(0)
        port = listening.getsockname()[1]
        child = start(lambda: serve(LabellingSession(Project(self._path)), listening))
        listening.close()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20.0)
        with contextlib.closing(connection), contextlib.suppress(*_GONE):
            if chance.random() < 0.1:  # before it answers anything
                time.sleep(chance.uniform(0.0, 0.1))
                child.kill(which)
            state = self._ask(connection)
            for _ in range(chance.randrange(8)):
                if state["question"] is not None:
                    state = self._label(connection, state["question"]["item"], chance.choice(CLASSES))
            item = Item(0) if state["question"] is None else state["question"]["item"]

            def end() -> None:
                time.sleep(chance.uniform(0.0, 0.01))
                child.kill(which)

            self._label(connection, item, chance.choice(CLASSES), end)
        child.wait_after(which)
        if len(self._check()) > 0.9 * _DOCUMENTS:
            self._check_learner()
            self._new_journal(folder)

    def _ask(self, connection: http.client.HTTPConnection) -> Any:
        connection.request("GET", f"/{self._token}/api/next?client=tab&annotator=ann")
        return json.loads(connection.getresponse().read())

    def _label(
        self,
        connection: http.client.HTTPConnection,
        item: Item,
        label: str,
        sent: Callable[[], object] = lambda: None,
    ) -> Any:
        body = json.dumps(_WHO | {"item": item, "label": label})
        self._confirmed.pop(item, None)  # from here on either may be stored
        connection.request("POST", f"/{self._token}/api/label", body, {"Content-Type": "application/json"})
        sent()
        state = json.loads(connection.getresponse().read())
        self._confirmed[item] = label
        return state

    def _check(self) -> dict[Item, Any]:
        with Project(self._path, read_only=True) as project:
            labels = in_force(project.store.labels())
        assert {item: labels[item]["ann"].label for item in self._confirmed} == self._confirmed
        return labels

    def _check_learner(self) -> None:
        """The next session tells the learner what the last ones could not."""
        with Project(self._path) as project:
            session = LabellingSession(project)
            session.start()
            assert session.worker.wait()
            assert session.feed.answered == sum(session.feed.asked[item] for item in session.labels)
            session.close()

    def trials(self, folder: Path) -> Trials:
        found: Trials = {"full disk": self._full_disk}
        return found | ({"read-only": self._read_only} if circumstances.can_be_bound(folder) else {})

    def _full_disk(self, folder: Path, chance: Random) -> None:
        """What could not be stored is refused, the page stays, and what it confirmed is there."""
        self._new_journal(folder)
        listening = bind(0)
        port, limit = listening.getsockname()[1], chance.randrange(4_000, 300_000)
        child = start(lambda: self._serve_full(listening, limit))
        listening.close()
        codes = set()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20.0)) as connection:
            for item in map(Item, range(40)):
                label = chance.choice(CLASSES)
                body = json.dumps(_WHO | {"item": item, "label": label})
                connection.request(
                    "POST", f"/{self._token}/api/label", body, {"Content-Type": "application/json"}
                )
                reply = connection.getresponse()
                content = json.loads(reply.read())
                codes.add(reply.status)
                if reply.status == 200:
                    self._confirmed[item] = label
                else:
                    assert reply.status == 507, (reply.status, content)
                    assert str(self._path) in content["error"], content
        child.kill(SIGTERM)
        assert child.wait() == 0, child.said()
        assert "Traceback" not in child.said(), child.said()
        self._check()
        self._check_learner()

    def _serve_full(self, listening: socket.socket, limit: int) -> None:
        session = LabellingSession(Project(self._path))
        circumstances.full_disk(limit)
        serve(session, listening)

    def _read_only(self, folder: Path, chance: Random) -> None:
        """It says so before a page opens."""
        place = folder / "closed"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        write_table(place / "messages.csv", 20)
        place.chmod(0o555)
        command = ["active", "label", place / "messages.csv", "--classes", "ham,spam", "--no-open"]
        child = start([*command, "--port", 0], before=circumstances.unprivileged)
        code = child.wait()
        place.chmod(0o755)
        assert code == 1, (code, child.said())
        assert "Error: " in child.said(), child.said()
        assert str(place) in child.said(), child.said()
