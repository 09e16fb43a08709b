"""Runs that are killed, interrupted, or fail: the next one goes on from there."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from paper.command import command
from paper.study import Step
from paper.time_left import TimeLeft
from tests.paper.made_up import MadeUp

ROOT = Path(__file__).parents[2]


def child(log: Path, *options: str, holds: str = "") -> subprocess.Popen[str]:
    """A run of six steps, a to f, that never gets beyond the one at which it holds."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.paper.child", str(log), holds, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(log: Path, lines: int) -> None:
    for _ in range(6000):
        if log.exists() and len(log.read_text().splitlines()) >= lines:
            return
        time.sleep(0.01)
    raise AssertionError("the child did nothing")


def invoke(study: MadeUp, *options: str) -> Result:
    return CliRunner().invoke(command((study,)), options)


def test_killed_half_way_nothing_is_done_twice(tmp_path: Path) -> None:
    log, output = tmp_path / "log", tmp_path / "out"
    process = child(log, "--output", str(output), holds="d")
    until(log, 3)
    kept = {path: path.stat().st_mtime_ns for path in output.glob("steps/*/*.json")}
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert len(kept) >= 2
    (output / "steps/first/.f.csv.123.tmp").write_text("half a f")
    process = child(log, "--output", str(output))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "report.html" in out
    assert re.search(r"[23] of 6 steps are finished already", err)
    done = Counter(log.read_text().splitlines())
    assert set(done) == {f"first {key}" for key in "abcdef"}
    # the step in which it was killed may have been computed, but not kept
    assert sum(done.values()) <= 7
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert not list(output.rglob("*.tmp"))


def test_interrupted_it_says_how_to_go_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = child(log, "--output", str(tmp_path / "out"), holds="c")
    until(log, 1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted; finished steps are kept, and the same command continues from there" in err
    assert "Traceback" not in err


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    log, output = tmp_path / "log", tmp_path / "out"
    process = child(log, "--output", str(output), holds="b")
    until(log, 1)
    found = invoke(MadeUp("first"), "--output", str(output))
    process.kill()
    process.communicate()
    assert found.exit_code == 1
    assert f"process {process.pid} is using {output}" in found.output
    assert invoke(MadeUp("first"), "--output", str(output)).exit_code == 0


def test_a_step_that_fails_leaves_the_others(tmp_path: Path) -> None:
    output, log = tmp_path / "out", tmp_path / "log"
    found = invoke(MadeUp("first", fails="b", log=log), "--output", str(output))
    assert isinstance(found.exception, ZeroDivisionError)
    assert "the step 'first, b'" in found.exception.__notes__[0]
    found = invoke(MadeUp("first", log=log), "--output", str(output))
    assert found.exit_code == 0
    assert log.read_text().splitlines() == ["first a", "first b", "first c"]


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("paper.store.write_text", full)
    found = invoke(MadeUp("first"), "--output", str(tmp_path))
    assert found.exit_code == 1
    assert "a.csv: No space left on device; finished steps are kept" in found.output
    assert "Traceback" not in found.output


def test_quick_and_full_runs_do_not_mix(tmp_path: Path) -> None:
    study = MadeUp("first")
    for there, wanted in (([], ["--quick"]), (["--quick"], [])):
        folder = tmp_path / f"there{''.join(there)}"
        assert invoke(study, *there, "--output", str(folder)).exit_code == 0
        before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.name != ".lock")
        found = invoke(study, *wanted, "--output", str(folder))
        assert found.exit_code == 1
        assert re.search(
            "has the results of a (quick|full) run, and this is a (quick|full) one", found.output
        )
        after = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.name != ".lock")
        assert after == before
    (folder / "scope.json").unlink()
    found = invoke(study, "--output", str(folder))
    assert "does not say whether of a quick or a full run" in found.output


def test_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "paper-report/report.html" in invoke(MadeUp("first")).output
    assert "paper-report-quick/report.html" in invoke(MadeUp("first"), "--quick").output


def test_names_that_are_none(tmp_path: Path) -> None:
    found = invoke(MadeUp("first"), "--only", "frist", "--output", str(tmp_path / "out"))
    assert found.exit_code == 2
    assert "'frist' is not" in found.output
    assert "'first'" in found.output
    assert not (tmp_path / "out").exists()


def test_the_rest_of_the_time() -> None:
    def step(table: str, key: str) -> Step:
        return Step(table, key, {}, list)

    remaining = TimeLeft({})
    assert remaining.seconds([step("x", "a")]) is None
    assert remaining.seconds([]) == 0.0
    remaining.learn(step("x", "a"), 2.0)
    assert remaining.seconds([step("x", "b"), step("x", "c")]) == 4.0
    remaining.learn(step("y", "a"), 10.0)
    assert remaining.seconds([step("x", "b"), step("y", "b"), step("z", "b")]) == 2.0 + 10.0 + 6.0
    assert TimeLeft({("x", "b"): 7.0, ("x", "c"): 1.0}).seconds([step("x", "b"), step("x", "d")]) == 7.0 + 4.0
