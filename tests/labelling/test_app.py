"""The web application in process: what it answers, and whom it refuses."""

import asyncio
import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from steelyard.active.label_store import Label
from steelyard.labelling.app import LabellingApp
from steelyard.labelling.session import LabellingSession
from tests.labelling.projects import answer, truth
from tests.labelling.web import WebClient

ME = {"client": "tab", "annotator": "ann"}


@pytest.fixture
def client(session: LabellingSession) -> WebClient:
    token = session.project.settings.token
    return WebClient(LabellingApp(session).starlette(), f"http://127.0.0.1:8766/{token}/")


def get(web: WebClient, name: str, code: int = 200, **given: Any) -> Any:
    reply = web.get(f"api/{name}", params=ME | given)
    assert reply.status_code == code, reply.text
    return reply.json()


def post(web: WebClient, name: str, code: int = 200, **given: Any) -> Any:
    reply = web.post(f"api/{name}", json=ME | given)
    assert reply.status_code == code, reply.text
    return reply.json()


def text(question: dict[str, Any]) -> str:
    return "".join(piece for piece, _ in question["texts"][0][1])


def test_label_undo_search_and_go_back(client: WebClient, session: LabellingSession) -> None:
    about = get(client, "about")
    assert about["classes"] == ["ham", "spam"]
    assert about["name"] == "messages.csv"
    state = get(client, "next")
    first = state["question"]
    for _ in range(25):
        question = state["question"]
        state = post(client, "label", item=question["item"], label=truth(text(question)))
    assert state["labelled"] == 25
    assert session.worker.wait()
    state = get(client, "state")
    assert state["mine"] == 25
    assert state["estimates"][-1]["answers"] >= 20
    again = get(client, "document", item=first["item"])
    assert (again["labelled"], again["label"]) == (True, truth(text(first)))
    assert any(level for _, pieces in again["texts"] for _, level in pieces)
    assert [name for name, _ in again["others"]] == ["hour", "sender"]
    recent = get(client, "recent")
    assert recent[-1]["item"] == first["item"]
    assert recent[0]["item"] == question["item"]
    undone = post(client, "undo")
    assert undone["question"]["item"] == question["item"]
    assert undone["labelled"] == 24
    assert get(client, "search", text="FREE")[0]["snippet"]
    assert get(client, "search", text='no such "text" %_\\') == []
    assert post(client, "leave") == {}  # and comes back, as nobody else took it
    assert get(client, "next")["question"]["item"] == question["item"]
    skipped = post(client, "label", item=question["item"], label=None)
    assert (skipped["skipped"], skipped["labelled"]) == (1, 24)


def test_certificates_budgets_and_downloads(
    client: WebClient, session: LabellingSession, tmp_path: Path
) -> None:
    answer(session, 30)
    assert session.worker.wait()  # else the model would learn some of them after it was certified
    # which questions were asked by then depends on who was faster, and the estimate on them
    latest, value, low, target = session.feed.estimates[-1], 0.08, 0.02, 0.4
    latest |= {"value": value, "low": low}
    coming = get(client, "forecast", measure="error", target=target)
    expected = pytest.approx(target / 4.0, abs=1e-4)
    assert (coming["why"], coming["expected"]) == ("a quarter of what is allowed", expected)
    assert 0 < coming["labels"] < 40
    near = get(client, "forecast", measure="error", target=2.0 * value)
    assert (near["why"], near["expected"]) == ("as estimated", pytest.approx(value, abs=1e-4))
    wide = get(client, "forecast", measure="error", target=(low + value) / 2.0)
    assert wide["why"].endswith("too uncertain to tell")
    latest["low"] = value
    assert get(client, "forecast", measure="error", target=value / 2 + 1e-6)["labels"] is None
    assert get(client, "forecast", measure="precision", target=0.999)["expected"] == 0.0
    guessed = get(client, "forecast", measure="precision", target=0.8)
    assert (guessed["why"], guessed["expected"]) == ("half of what is allowed", 0.1)
    assert 0 < get(client, "forecast", measure="recall", target=0.8)["labels"] <= 90
    state = post(client, "certify", measure="error", target=0.4)
    assert state["attempt"]["target"] == 0.4
    assert state["attempt"]["labels_left"] > 0
    while state["attempt"] is not None:
        assert state["question"]["purpose"] == "certify"
        state = post(client, "label", item=state["question"]["item"], label=truth(text(state["question"])))
    proof = state["certificate"]
    assert proof["says"].startswith("certified: error below 0.4")
    assert session.worker.wait()
    proof = get(client, "state")["certificate"]
    assert (proof["reaches_goal"], proof["up_to_date"]) == (False, True)  # the goal is 0.05
    goal = session.project.settings
    for measure, target, reaches in (("error", 0.4, True), ("error", 0.39, False), ("recall", 0.4, False)):
        session.project.settings = replace(goal, measure=measure, target=target)
        assert get(client, "state")["certificate"]["reaches_goal"] is reaches
    session.project.settings = goal
    answer(session, 1)
    assert session.worker.wait()
    proof = get(client, "state")["certificate"]
    assert proof["up_to_date"] is False
    assert proof["learned_since"] == len(session.feed.classifier.learner_.labelled) - proof["labels"] > 1
    state = post(client, "certify", measure="precision", target=0.9)
    assert post(client, "give-up")["attempt"] is None
    assert post(client, "budget", budget=90)["budget"] == 90
    assert post(client, "budget", budget=10)["budget"] == 10
    for wrong in (1e308, 0, -1, 1.5, True, "many", None):
        assert "the budget is a" in post(client, "budget", 400, budget=wrong)["error"]
    assert get(client, "state")["budget"] == 10
    table = client.get("api/download", params={"kind": "csv"})
    assert table.headers["content-disposition"] == 'attachment; filename="labels.csv"'
    assert table.text.count("\n") == 121
    assert client.get("api/download", params={"kind": "model"}).content[8:9] == b"{"
    found = json.loads(client.get("api/download", params={"kind": "certificate"}).text)
    assert found["passed"] is True
    assert "'exe' is missing" in get(client, "download", 400, kind="exe")["error"]


def test_two_people_and_their_agreement(client: WebClient) -> None:
    item = get(client, "next")["question"]["item"]
    post(client, "label", item=item, label="ham")
    state = post(client, "label", item=item, label="ham", annotator="bob", client="other")
    assert state["people"] == ["ann", "bob"]
    assert state["agreement"]["pairs"][0]["kappa"] == 1.0
    assert get(client, "state")["agreement"]["items"] == 1


def test_what_is_refused(client: WebClient, session: LabellingSession) -> None:
    token = session.project.settings.token
    for headers in (
        {"host": "evil.example:8766"},
        {"host": ""},
        {"host": "localhost:80@evil.example"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ):
        assert client.get("api/state", params=ME, headers=headers).status_code == 403
        assert client.post("api/label", json=ME, headers=headers).status_code == 403
    for address in ("/wrong/", f"/{token}x/api/state", "/x/api/label"):
        reply = client.get(f"http://127.0.0.1:8766{address}")
        assert reply.status_code in (403, 405)
    assert client.post(f"http://127.0.0.1:8766/{token[:-1]}/api/undo", json=ME).status_code == 403
    assert client.get("http://127.0.0.1:8766/").status_code == 404
    same = {"origin": "http://localhost:8766", "host": "localhost:8766", "sec-fetch-site": "same-origin"}
    assert client.get("api/state", params=ME, headers=same).status_code == 200
    assert not session.labels


def test_bad_requests_change_nothing(client: WebClient, session: LabellingSession) -> None:
    assert "'item' is missing" in post(client, "label", 400)["error"]
    assert "neither ham nor spam" in post(client, "label", 400, item=0, label="eggs")["error"]
    assert "there is no document 5000" in get(client, "document", 400, item=5000)["error"]
    form = client.post("api/undo", content=b"{}", headers={"content-type": "text/plain"})
    assert "application/json" in form.json()["error"]
    large = client.post("api/undo", json=ME | {"x": "x" * (1 << 17)})
    assert "too large" in large.json()["error"]
    for infinite in (b'{"budget": Infinity}', b"[" * 60_000):
        reply = client.post("api/budget", content=infinite, headers={"content-type": "application/json"})
        assert reply.status_code == 400
    broken = client.post("api/undo", content=b"{", headers={"content-type": "application/json"})
    assert broken.status_code == 400
    assert "nothing to undo" in post(client, "undo", 400)["error"]
    assert not session.labels


def test_numbers_are_numbers(client: WebClient, session: LabellingSession) -> None:
    """Of every route and every field with a number that it wants: nothing else is taken for one."""
    rest = ME | {"label": "ham", "measure": "error", "text": "free", "kind": "csv"}
    budget, wanted = session.project.settings.budget, set()
    for route in LabellingApp(session).starlette().routes:
        assert isinstance(route, Route)
        name = route.path.removeprefix("/{token}/api/")
        ask = post if "POST" in (route.methods or ()) else get
        for field in ("item", "budget", "target"):
            method, given = ("POST", {"json": rest}) if ask is post else ("GET", {"params": rest})
            if f"'{field}' is missing" not in client.request(method, f"api/{name}", **given).text:
                continue
            wanted.add((name, field))
            wrong: list[Any] = [True, "x", "", "1_0", "NaN", "Infinity", "1e999", "²"]
            wrong += [] if field == "target" else [3.9, 7.0]
            wrong += ["7", "0.3", None, []] if ask is post else ["true", '"7"']
            for value in wrong:
                said = ask(client, name, 400, **rest | {field: value})["error"]
                assert f"the {field} is a" in said, (name, value)
    assert wanted == {
        ("label", "item"), ("document", "item"), ("budget", "budget"), ("certify", "target"),
        ("forecast", "target"),
    }  # fmt: skip
    assert not session.labels
    assert (session.attempts.current, session.worker.wish) == (None, None)
    assert session.project.settings.budget == budget


def test_a_full_disk_is_told(
    client: WebClient, session: LabellingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(label: Label) -> None:
        raise OSError(28, "No space left on device", "messages.csv.journal")

    item = get(client, "next")["question"]["item"]
    with monkeypatch.context() as full:
        full.setattr(session.project.store, "add", refuse)
        said = post(client, "label", 507, item=item, label="ham")
    assert said == {"error": "messages.csv.journal: No space left on device"}
    assert item not in session.labels
    assert post(client, "label", item=item, label="ham")["labelled"] == 1


def test_pages_may_run_nothing_but_their_own(client: WebClient) -> None:
    page = client.get("")
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "onclick" not in page.text
    assert "style=" not in page.text
    for name in ("page.js", "plot.js", "server.js"):
        script = client.get(name)
        assert script.headers["content-type"].startswith("text/javascript")
        assert "innerHTML" not in script.text
    for name in ("page.css", "icon.svg"):
        assert client.get(name).headers["x-content-type-options"] == "nosniff"


def test_without_pyarrow_there_is_no_parquet(client: WebClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert get(client, "about")["parquet"] is True
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert get(client, "about")["parquet"] is False
    assert "need pyarrow: pip install" in get(client, "download", 400, kind="parquet")["error"]


def test_undo_brings_back_what_was_there_before(client: WebClient) -> None:
    item = get(client, "next")["question"]["item"]
    post(client, "label", item=item, label="ham")
    post(client, "label", item=item, label="spam")
    question = post(client, "undo")["question"]
    assert (question["item"], question["labelled"], question["label"]) == (item, True, "ham")
    question = post(client, "undo")["question"]
    assert (question["item"], question["labelled"]) == (item, False)
    assert get(client, "state")["read"] == 0


def test_whoever_leaves_in_the_middle_of_a_request_is_not_answered(session: LabellingSession) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    path = f"/{session.project.settings.token}/api/label"
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    asyncio.run(LabellingApp(session).starlette()(scope, receive, send))
    assert not any(message.get("body") for message in sent)
    assert not session.labels
