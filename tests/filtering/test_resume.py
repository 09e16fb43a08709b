"""Runs that were interrupted, or that other settings have made."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.filtering import filter_files, inputs, run
from steelyard.filtering.run_folder import RunFolder, write_json
from steelyard.io.errors import InputError
from steelyard.scoring import outputs, table_files
from tests.filtering.corpus import content, rows, write_jsonl

_KILLED = """
import os, signal, sys
from steelyard.filtering import filter_files, inputs, run
inputs.BLOCK, run._CHECKPOINT = 1024, 2
def progress(path, position, count):
    if count > 300:
        os.kill(os.getpid(), signal.SIGKILL)
given = {"keep": "p >= 0.5", "rejects": sys.argv[4], "audit_size": 20}
filter_files(*sys.argv[1:4], **given, threads=2, progress=progress)
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "BLOCK", 1024)
    monkeypatch.setattr(run, "_CHECKPOINT", 2)


def filtered(models: Path, corpus: Path, folder: Path) -> dict[str, bytes]:
    filter_files(
        models / "quality.model", corpus, folder / "kept", keep="p >= 0.5", rejects=folder / "no",
        audit_size=20,
    )  # fmt: skip
    return {name: text for name, text in content(folder).items() if "settings.json" not in name}


@pytest.mark.usefixtures("small")
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(
    models: Path, corpus: Path, tmp_path: Path
) -> None:
    write_jsonl(corpus / "a.jsonl.gz", rows(500, 2))  # killed within this one
    undisturbed = filtered(models, corpus, tmp_path / "whole")
    killed = tmp_path / "killed"
    arguments = [models / "quality.model", corpus, killed / "kept", killed / "no"]
    done = subprocess.run([sys.executable, "-c", _KILLED, *map(str, arguments)])
    assert done.returncode == -signal.SIGKILL
    before = content(killed)
    assert "kept/.a.jsonl.gz.partial" in before
    assert json.loads(before["kept/_steelyard/partial/a.jsonl.gz.json"])["blocks"] > 0
    assert filtered(models, corpus, killed) == undisturbed


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("stop", [1, 60, 200, 410])
def test_an_interrupted_run_goes_on(stop: int, models: Path, corpus: Path, tmp_path: Path) -> None:
    undisturbed = filtered(models, corpus, tmp_path / "whole")

    def interrupt(path: str, position: int, count: int) -> None:
        if count >= stop:
            raise KeyboardInterrupt

    folder = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        filter_files(
            models / "quality.model", corpus, folder / "kept", keep="p >= 0.5", rejects=folder / "no",
            audit_size=20, progress=interrupt,
        )  # fmt: skip
    assert filtered(models, corpus, folder) == undisturbed


@pytest.mark.usefixtures("small")
def test_a_part_that_is_lost_or_of_another_file_begins_anew(
    models: Path, corpus: Path, tmp_path: Path
) -> None:
    undisturbed = filtered(models, corpus, tmp_path / "whole")

    def interrupt(path: str, position: int, count: int) -> None:
        if count >= 100:
            raise KeyboardInterrupt

    for damage in ("lost", "changed"):
        folder = tmp_path / damage
        write_jsonl(corpus / "a.jsonl.gz", rows(150 + (damage == "changed"), 2))
        with pytest.raises(KeyboardInterrupt):
            filter_files(
                models / "quality.model", corpus, folder / "kept", keep="p >= 0.5", rejects=folder / "no",
                audit_size=20, progress=interrupt,
            )  # fmt: skip
        if damage == "lost":
            (folder / "no/.a.jsonl.gz.partial").unlink()
        else:
            write_jsonl(corpus / "a.jsonl.gz", rows(150, 2))
        assert filtered(models, corpus, folder) == undisturbed


@pytest.mark.usefixtures("small")
def test_parquet_begins_anew(models: Path, tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    documents = rows(100, 3)
    parquet.write_table(pa.table({"text": [each["text"] for each in documents]}), tmp_path / "x.parquet")

    def interrupt(path: str, position: int, count: int) -> None:
        if count >= 50:
            raise KeyboardInterrupt

    given = models / "quality.model", tmp_path / "x.parquet"
    with pytest.raises(KeyboardInterrupt):
        filter_files(*given, tmp_path / "kept", progress=interrupt)
    assert not list((tmp_path / "kept").glob(".x*"))
    filter_files(*given, tmp_path / "kept")
    filter_files(*given, tmp_path / "other")
    assert (tmp_path / "kept/x.parquet").read_bytes() == (tmp_path / "other/x.parquet").read_bytes()


def test_row_groups_are_not_tiny(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.setattr(inputs, "BLOCK", 1024)
    monkeypatch.setattr(table_files, "_ROW_GROUP", 3000)
    table = pa.table({"text": [each["text"] for each in rows(200, 3)]})
    parquet.write_table(table, tmp_path / "x.parquet")
    filter_files(models / "quality.model", tmp_path / "x.parquet", tmp_path / "kept")
    found = parquet.ParquetFile(tmp_path / "kept/x.parquet").metadata
    assert found.num_rows == 200
    assert 1 < found.num_row_groups < 8


def test_other_settings_are_refused(models: Path, corpus: Path, tmp_path: Path) -> None:
    model, kept = models / "quality.model", tmp_path / "kept"
    filter_files(model, corpus, kept, keep="p >= 0.5")
    with pytest.raises(
        InputError, match=r"other settings \(`keep`: p >= 0.5, now p >= 0.6\); name another folder"
    ):
        filter_files(model, corpus, kept, keep="p >= 0.6")
    with pytest.raises(InputError, match=r"\(models: quality \w{8}, now language \w{8}; `keep`: p"):
        filter_files(models / "language.model", corpus, kept)
    write_jsonl(corpus / "d.jsonl", rows(10, 9))
    assert filter_files(model, corpus, kept, keep="p >= 0.5").already_done == 3
    write_jsonl(corpus / "d.jsonl", rows(11, 9))
    with pytest.raises(InputError, match="has changed since"):
        filter_files(model, corpus, kept, keep="p >= 0.5")
    (kept / "_steelyard/files/d.jsonl.json").unlink()
    with pytest.raises(InputError, match="already exists, and is not from this run"):
        filter_files(model, corpus, kept, keep="p >= 0.5")
    (kept / "_steelyard/settings.json").unlink()
    with pytest.raises(InputError, match="is not empty, and no folder of an earlier run"):
        filter_files(model, corpus, kept, keep="p >= 0.5")
    (kept / "_steelyard/settings.json").write_text("{")
    with pytest.raises(InputError, match=r"settings.json: is damaged"):
        filter_files(model, corpus, kept, keep="p >= 0.5")


def test_records_without_an_output_do_not_count(models: Path, corpus: Path, tmp_path: Path) -> None:
    filter_files(models / "quality.model", corpus, tmp_path / "kept")
    (tmp_path / "kept/b.jsonl").unlink()
    assert len(list(RunFolder(tmp_path / "kept").records())) == 2


def test_two_runs_do_not_write_one_file(models: Path, corpus: Path, tmp_path: Path) -> None:
    import fcntl

    (tmp_path / "kept").mkdir()
    with (tmp_path / "kept/.b.jsonl.partial").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_json(tmp_path / "kept/_steelyard/settings.json", {})
        folder = RunFolder(tmp_path / "kept")
        with pytest.raises(InputError, match="being written by another run"):
            outputs._open_alone(tmp_path / "kept/.b.jsonl.partial")
        assert folder.settings() == {}


@pytest.mark.usefixtures("small")
def test_damaged_files_are_passed_over_with_skip(models: Path, corpus: Path, tmp_path: Path) -> None:
    """The others are as if those had never been there."""
    given = {"keep": "p >= 0.5", "audit_size": 20, "threads": 2, "skip_errors": True}
    filter_files(models / "quality.model", corpus, tmp_path / "whole", **given)  # type: ignore[arg-type]
    sound = {path.name for path in corpus.iterdir() if path.is_file()}
    for path in (corpus / "0.jsonl.gz", corpus / "zz.jsonl.gz"):
        write_jsonl(path, rows(300, 5))
        path.write_bytes(path.read_bytes()[:-40])
    (corpus / "m.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    remedy = r"0\.jsonl\.gz.*damaged or cut off.*copy of it\n\(skip_errors=True leaves"
    with pytest.raises(InputError, match=remedy):
        filter_files(models / "quality.model", corpus, tmp_path / "stop", keep="p >= 0.5")
    with pytest.raises(InputError, match="damaged or cut off") as alone:
        filter_files(models / "quality.model", corpus / "0.jsonl.gz", tmp_path / "stop", keep="p >= 0.5")
    assert "on-error" not in str(alone.value), "there is nothing else to filter"
    found = filter_files(models / "quality.model", corpus, tmp_path / "kept", **given)  # type: ignore[arg-type]
    assert [Path(line.partition(":")[0].partition(",")[0]).name for line in found.failed] == [
        "0.jsonl.gz", "m.jsonl", "zz.jsonl.gz",
    ]  # fmt: skip
    assert content(tmp_path / "kept").keys() == content(tmp_path / "whole").keys()
    for name in sound:
        assert (tmp_path / "kept" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    fraction = filter_files(
        models / "quality.model", corpus, tmp_path / "best", fraction=0.2, by="p[good]", skip_errors=True
    )
    assert len(fraction.failed) == 3
    with pytest.raises(InputError, match=remedy):
        filter_files(models / "quality.model", corpus, tmp_path / "worst", fraction=0.2, by="p[good]")


def test_skip_goes_on_where_stop_has_stopped(models: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", rows(50, 1))
    (folder / "b.jsonl").write_text('{"text": "fine"}\nbroken\n')
    with pytest.raises(InputError, match="skip_errors=True"):
        filter_files(models / "quality.model", folder, tmp_path / "kept", keep="p >= 0.5")
    found = filter_files(
        models / "quality.model", folder, tmp_path / "kept", keep="p >= 0.5", skip_errors=True
    )
    assert (found.files, found.already_done, found.statistics["unreadable"]) == (2, 1, 1)
    with pytest.raises(
        InputError, match="with skip_errors=True, and what could not be read is left out: repeat"
    ):
        filter_files(models / "quality.model", folder, tmp_path / "kept", keep="p >= 0.5")


@pytest.mark.parametrize("unknown", [["text"], ["text", "encoding"]])
def test_a_folder_of_an_earlier_release_goes_on_with_skip(
    unknown: list[str], models: Path, corpus: Path, tmp_path: Path
) -> None:
    """It does not know of settings that came later: they were not set."""
    model, kept = models / "quality.model", tmp_path / "kept"
    filter_files(model, corpus, kept, keep="p >= 0.5")
    folder = RunFolder(kept)
    before = folder.settings()
    assert before is not None
    old = {name: value for name, value in before.items() if name not in unknown}
    for skip_errors in (False, True):
        write_json(folder.settings_path, old)
        found = filter_files(model, corpus, kept, keep="p >= 0.5", skip_errors=skip_errors)
        assert found.already_done == found.files == 3
    assert folder.settings() == before | {"skip_errors": True}
    write_json(folder.settings_path, old)
    changes = r"other settings \(skip_errors=False, now skip_errors=True; `text`: not given, now id\)"
    with pytest.raises(InputError, match=changes):
        filter_files(model, corpus, kept, keep="p >= 0.5", skip_errors=True, text="id")


def without_records(files: dict[str, bytes]) -> dict[str, bytes]:
    """A record has those candidates for the audit to which the files that were done before leave a chance."""
    return {name: text for name, text in files.items() if "_steelyard/files" not in name}


@pytest.mark.parametrize("lost", [["b.jsonl"], ["a.jsonl.gz", "b.jsonl", "deeper/c.jsonl.gz"]])
def test_rejects_that_were_removed_are_written_again(
    lost: list[str], models: Path, corpus: Path, tmp_path: Path
) -> None:
    """They are outputs as what is kept is. The audit counts each document once."""
    undisturbed = filtered(models, corpus, tmp_path / "run")
    for name in lost:
        (tmp_path / "run" / "no" / name).unlink()
    folder = RunFolder(tmp_path / "run" / "kept", tmp_path / "run" / "no")
    assert len(list(folder.records())) == 3 - len(lost)
    assert without_records(filtered(models, corpus, tmp_path / "run")) == without_records(undisturbed)
    found = filter_files(
        models / "quality.model", corpus, tmp_path / "run" / "kept", keep="p >= 0.5",
        rejects=tmp_path / "run" / "no", audit_size=20,
    )  # fmt: skip
    assert found.already_done == found.files == 3


@pytest.mark.usefixtures("small")
def test_writing_rejects_again_may_be_interrupted(models: Path, corpus: Path, tmp_path: Path) -> None:
    """What was kept is there all the time."""
    undisturbed = filtered(models, corpus, tmp_path / "run")
    kept, no = tmp_path / "run" / "kept", tmp_path / "run" / "no"
    (no / "a.jsonl.gz").unlink()

    def interrupt(path: str, position: int, count: int) -> None:
        if count >= 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filter_files(
            models / "quality.model", corpus, kept, keep="p >= 0.5", rejects=no, audit_size=20,
            progress=interrupt,
        )  # fmt: skip
    assert (kept / "a.jsonl.gz").read_bytes() == undisturbed["kept/a.jsonl.gz"]
    assert without_records(filtered(models, corpus, tmp_path / "run")) == without_records(undisturbed)


def test_rejects_of_a_file_that_has_changed_are_not_written_again(
    models: Path, corpus: Path, tmp_path: Path
) -> None:
    filtered(models, corpus, tmp_path / "run")
    (tmp_path / "run" / "no" / "b.jsonl").unlink()
    write_jsonl(corpus / "b.jsonl", rows(151, 3))
    with pytest.raises(InputError, match="was made from a file that has changed since"):
        filtered(models, corpus, tmp_path / "run")
