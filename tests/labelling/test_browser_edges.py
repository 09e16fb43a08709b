"""The page in a real Chromium at its edges: the last document, changed answers, budgets."""

from pathlib import Path
from typing import Any

import pytest

from tests.labelling.projects import write_table
from tests.labelling.test_browser import Server, chromium, count, label, press, server, shown, until, visit

pytestmark = pytest.mark.browser
__all__ = ["chromium", "server"]  # fixtures


def test_undo_of_a_changed_answer_brings_the_former_one_back(chromium: Any, server: Server) -> None:
    page = visit(chromium, server)
    label(page, 3)
    waiting = shown(page)
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#return:visible")
    earlier, said = shown(page), page.inner_text("#badge")
    page.keyboard.press("1" if said.endswith("spam") else "2")
    until(page, "document.getElementById('return').hidden && !document.body.hasAttribute('aria-busy')")
    page.keyboard.press("u")
    page.wait_for_selector("#return:visible")
    assert (shown(page), page.inner_text("#badge"), count(page)) == (earlier, said, 3)
    page.keyboard.press("ArrowRight")
    assert shown(page) == waiting
    assert not page.problems


def test_budgets_go_up_and_down_and_everything_can_be_read(chromium: Any, tmp_path: Path) -> None:
    given = Server(write_table(tmp_path / "few.csv", 30), "--budget", "500", "--strategy", "random").start()
    try:
        page = visit(chromium, given)
        page.fill("#budget", "2")
        page.click("#budget-form button")
        until(page, "document.getElementById('of-budget').textContent === 'of 2 labels'")
        while page.inner_text("#document-title") != "Nothing to label now":
            label(page, 1)
        assert page.inner_text("#stop-answer") == "Not yet"
        page.screenshot(path=str(tmp_path / "exhausted.png"))
        page.click("#more")
        page.wait_for_selector("#texts p[dir]")
        while page.inner_text("#document-title") != "Nothing to label now":
            label(page, 1)
        assert page.inner_text("#stop-answer") == "Yes, all are read"
        assert "nothing is left to predict" in page.inner_text("#stop-why")
        press(page, "u", count(page) - 1)
        assert page.inner_text("#stop-answer") != "Yes, all are read"
        page.evaluate(
            "document.getElementById('budget').value = 1e308; document.getElementById('more').focus()"
        )
        page.evaluate("document.getElementById('budget-form').noValidate = true")
        page.click("#budget-form button")
        until(page, "!document.getElementById('banner').hidden")
        assert "the budget is a" in page.inner_text("#banner")
        assert not page.problems
    finally:
        given.stop()
