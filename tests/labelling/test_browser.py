"""The page in a real Chromium: `make test-browser`."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.labelling.projects import truth, write_table

pytestmark = pytest.mark.browser
_COMMAND = [sys.executable, "-c", "from steelyard.cli import main; main()", "active", "label"]
HOSTILE = [
    "<script>document.title='hacked'</script> free prize",
    "<img src=x onerror=\"document.title='hacked'\"> lunch at home",
    "'\"><svg onload=document.title='hacked'> javascript:alert(1) win cash",
    "\u202eevil\u202c \x07 {{7*7}} ${7*7} </p></article><h1>big</h1> later",
]


class Server:
    """`steelyard active label`, which can be killed and started again at the same port."""

    def __init__(self, file: Path, *options: str) -> None:
        self.file, self.options, self.port, self.address = file, options, 0, ""

    def start(self) -> "Server":
        classes = [] if "--classes" in self.options else ["--classes", "ham,spam"]
        given = [*classes, "--no-open", "--port", str(self.port), *self.options]
        self.process = subprocess.Popen(
            [*_COMMAND, str(self.file), *given], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.match(r"http://127\.0\.0\.1:(\d+)/\S+", line):
                self.address, self.port = found[0], int(found[1])
                return self
        raise AssertionError("the server did not start")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(30)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    found = Server(write_table(tmp_path / "messages.csv", 200)).start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium: tools/install_browser.sh installs one")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def visit(chromium: Any, server: Server, **given: Any) -> Any:
    page = chromium.new_context(**given).new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(server.address)
    page.wait_for_selector("#texts p")
    return page


def shown(page: Any) -> str:
    return str(page.inner_text("#texts .field:last-child p"))


def count(page: Any) -> int:
    return int(page.inner_text("#labelled"))


def until(page: Any, condition: str, seconds: float = 20.0) -> None:
    """Playwright's own way to wait evaluates strings, which the policy of the page forbids."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(10)


def press(page: Any, key: str, labelled: int) -> None:
    page.keyboard.press(key)
    until(
        page,
        f"document.getElementById('labelled').textContent === '{labelled}' && "
        "!document.body.hasAttribute('aria-busy')",
    )


def label(page: Any, times: int) -> None:
    for _ in range(times):
        press(page, "y" if truth(shown(page)) == "spam" else "1", count(page) + 1)


def test_a_whole_session_with_keys(chromium: Any, server: Server, tmp_path: Path) -> None:
    page = visit(chromium, server)
    label(page, 30)
    last = shown(page)
    until(page, "document.querySelectorAll('#plot .line').length === 1")
    assert page.inner_text("#pill-text") == "Not yet: too few labels"
    assert "Too few labels to tell: the error may be from 0" in page.inner_text("#stop-why")
    assert "95 % interval" in page.inner_text("#plot-caption")
    page.reload()
    page.wait_for_selector("#texts p")
    assert (count(page), shown(page)) == (30, last)
    press(page, "u", 29)
    again = shown(page)
    press(page, "s", 29)
    assert "skipped" in page.inner_text("#tally")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#return:visible")
    assert shown(page) == again
    assert page.inner_text("#badge") == "you said: skipped"
    press(page, "2", 30)
    page.keyboard.press("/")
    page.keyboard.type("prize")
    page.wait_for_selector("#found button")
    page.click("#found button >> nth=0")
    until(page, "document.getElementById('texts').textContent.includes('prize')")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "document"
    page.keyboard.press("c")
    page.keyboard.press("Control+a")
    page.keyboard.type("40")
    page.keyboard.press("Enter")
    page.wait_for_selector("#give-up:visible")
    page.keyboard.press("c")
    assert page.evaluate("document.activeElement.id") == "give-up"
    before = count(page)
    while page.is_visible("#give-up"):
        assert page.inner_text("#badge") == "for the certificate"
        press(page, "2" if truth(shown(page)) == "spam" else "n", before := before + 1)
    assert page.inner_text("#stop-answer") == "Not yet"
    assert page.inner_text("#stop-why") == "Certified: error below 40\xa0%. The goal is below 5\xa0%."
    assert page.inner_text("#pill-text") == "Not yet: certified below 40\xa0%"
    for kind, name in (("csv", "labels.csv"), ("certificate", "certificate.json")):
        with page.expect_download() as waiting:
            page.click(f"[data-kind={kind}]")
        waiting.value.save_as(tmp_path / name)
    assert json.loads((tmp_path / "certificate.json").read_text())["passed"] is True
    assert (tmp_path / "labels.csv").read_text().count("\n") == 201
    label(page, 1)
    outdated = "utdated: the model has learned"
    for name in ("certificate-says", "stop-why"):
        until(page, f"document.getElementById('{name}').textContent.includes('{outdated}')")
    assert page.inner_text("#stop-answer") == "Not yet"
    assert page.inner_text("#certificate-says").startswith("Outdated: ")
    assert page.problems == []


def test_many_classes_have_keys(chromium: Any, tmp_path: Path) -> None:
    names = [f"class {number}" for number in range(1, 12)]
    own = Server(write_table(tmp_path / "m.csv", 40), "--classes", ",".join(names), "--budget", "3").start()
    page = visit(chromium, own)
    assert page.locator("#classes button").count() == 11
    assert page.inner_text("#classes button:last-child kbd") == "b"
    assert page.inner_text("#legend-positive") in ("", *names)
    assert page.locator("#measure option").all_inner_texts() == ["the error"]
    for done, key in enumerate(("1", "b", "a"), 1):
        press(page, key, done)
    assert page.inner_text("#of-budget") == "of 3 labels"
    assert page.locator("#tally td").all_inner_texts()[:11] == ["1", *"00000000", "1", "1"]
    page.keyboard.press("y")  # means nothing here
    page.keyboard.press("/")
    page.fill("#search-text", "the")
    page.wait_for_selector("#found button:has(.tag:empty)")
    page.click("#found li:has(.tag:empty) button")
    until(
        page, "/^Document /.test(document.getElementById('document-title').textContent)"
    )  # not: nothing to label
    press(page, "2", 4)
    assert page.inner_text("#of-budget") == "labels, budget 3"
    assert page.problems == []
    own.stop()


def test_screening_until_recall_is_certified(chromium: Any, tmp_path: Path) -> None:
    server = Server(write_table(tmp_path / "messages.csv", 120), "--screening", "--target", "0.7").start()
    page = visit(chromium, server)
    label(page, 25)
    assert re.match(r"Found \d+, since then \d+ others", page.inner_text("#pill-text"))
    assert not page.is_visible("#plot")
    assert page.input_value("#measure") == "recall"
    assert page.input_value("#target") == "70"
    page.click("#certify button")
    page.wait_for_selector("#give-up:visible")
    assert "answer the documents that are open" in page.inner_text("#certificate-says")
    while page.is_visible("#give-up"):
        label(page, 1)
    assert page.inner_text("#stop-answer") == "Yes, certified"
    assert "recall of 'spam' at least 0.7" in page.inner_text("#stop-why")
    assert page.problems == []
    server.stop()


def test_what_came_as_ris_can_be_saved_so(chromium: Any, tmp_path: Path) -> None:
    file = tmp_path / "references.ris"
    file.write_text(
        "".join(f"TY  - JOUR\nTI  - Of weights {k}\nAB  - Text {k}\nER  - \n\n" for k in range(9))
    )
    server = Server(file, "--classes", "irrelevant,relevant").start()
    page = visit(chromium, server)
    with page.expect_download() as waiting:
        page.click("[data-kind=ris]")
    waiting.value.save_as(tmp_path / "labels.ris")
    assert (tmp_path / "labels.ris").read_text().count("TY  - JOUR") == 9
    server.stop()


def test_two_browsers_at_once(chromium: Any, server: Server) -> None:
    one, two = visit(chromium, server), visit(chromium, server)
    two.fill("#annotator", "bob")
    two.press("#annotator", "Enter")
    two.wait_for_timeout(300)
    seen: set[str] = set()
    for _ in range(8):
        assert shown(one) != shown(two)
        for page in (one, two):
            text = shown(page)
            assert text not in seen
            seen.add(text)
            page.keyboard.press("1")
            until(page, f"!document.getElementById('texts').textContent.includes({json.dumps(text)})")
    one.reload()
    one.wait_for_selector("#texts p")
    assert count(one) == 16


def test_a_killed_server_loses_nothing(chromium: Any, server: Server) -> None:
    page = visit(chromium, server)
    label(page, 12)
    server.stop(signal.SIGKILL)
    page.keyboard.press("1")  # the page tries again until somebody answers
    page.wait_for_selector("#banner:visible")
    server.start()
    until(page, "document.getElementById('labelled').textContent === '13'", 60.0)
    assert page.is_hidden("#banner")
    label(page, 2)
    assert count(page) == 15


def test_hostile_text_stays_text(chromium: Any, tmp_path: Path) -> None:
    file = tmp_path / "hostile.jsonl"
    rows = [
        json.dumps({"id": f"<b>{k}</b>", "text": text, "note": "<i>n</i>"}) for k, text in enumerate(HOSTILE)
    ]
    file.write_text("\n".join(rows) + "\n")
    server = Server(file).start()
    try:
        page = visit(chromium, server)
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text))
        seen = []
        for number in range(len(HOSTILE)):
            seen.append(page.inner_text("#texts"))
            assert page.query_selector("#texts script, #texts img, #texts svg, #texts h1, #texts b") is None
            press(page, "1", number + 1)
        assert any("<script>document.title='hacked'</script>" in text for text in seen)
        page.keyboard.press("/")
        page.keyboard.type("onerror")
        page.wait_for_selector("#found button")
        assert page.query_selector("#found img") is None
        assert page.title() == "hostile.jsonl – labelling"
        assert refused == []
    finally:
        server.stop()


def test_wrong_tokens_and_other_origins_are_refused(chromium: Any, server: Server) -> None:
    page = chromium.new_page()
    reply = page.goto(server.address.rstrip("/")[:-1] + "/")
    assert reply.status == 403
    page.goto("data:text/html,<title>elsewhere</title>")  # another origin
    address = f"{server.address}api/"
    sent = page.evaluate(
        """async (address) => {
            const found = [];
            for (const given of [{}, {method: "POST", body: "{}"}, {mode: "no-cors"}]) {
                try {
                    const reply = await fetch(address + "state?annotator=a", given);
                    found.push(reply.type + reply.status);
                } catch (error) { found.push(error.name); }
            }
            return found;
        }""",
        address,
    )
    assert sent[:2] == ["TypeError", "TypeError"]  # nothing can be read
    assert sent[2] in ("opaque0", "TypeError")
    framed = chromium.new_page()
    framed.set_content(f'<iframe src="{server.address}"></iframe>')
    framed.wait_for_timeout(500)
    assert all(frame.query_selector("#classes") is None for frame in framed.frames)
    assert count(visit(chromium, server)) == 0


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_cut_off(chromium: Any, server: Server, width: int) -> None:
    page = visit(chromium, server, viewport={"width": width, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in ("#classes button >> nth=0", "#classes button >> nth=1", "#skip", "#pill"):
        box = page.locator(name).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= 720


def test_what_screen_readers_hear(chromium: Any, server: Server) -> None:
    page = visit(chromium, server)
    assert page.evaluate("document.activeElement.id") == "document"
    press(page, "1", 1)
    assert page.inner_text("#status") == "Labelled ham. 1 label."
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select, a[href]")]
            .filter((each) => !(each.textContent.trim() || each.ariaLabel || each.labels?.length))
            .map((each) => each.outerHTML)"""
    )
    assert unnamed == []
    assert page.get_attribute("#plot", "role") == "img"
    began = time.monotonic()
    page.focus("#skip")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('status').textContent.startsWith('Skipped')")
    assert time.monotonic() - began < 10.0
