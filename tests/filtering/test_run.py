"""Filters from one end to the other: outputs, scores, several models, thresholds, what is refused."""

import bz2
import csv
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from steelyard.filtering import filter_files, inputs
from steelyard.io.errors import InputError
from tests.cli.running import run
from tests.filtering.corpus import content, read, rows, write_jsonl

HALF = {"keep": "p >= 0.5"}


def test_rows_are_kept_as_they_stand_with_their_score(models: Path, corpus: Path, tmp_path: Path) -> None:
    model = models / "quality.model"
    result = filter_files(model, corpus, tmp_path / "kept", rejects=tmp_path / "no", **HALF)  # type: ignore[arg-type]
    originals = (corpus / "b.jsonl").read_text().splitlines()
    kept, rejected = ((tmp_path / name / "b.jsonl").read_text().splitlines() for name in ("kept", "no"))
    assert {line.rpartition(', "quality_p"')[0] + "}" for line in kept + rejected} == set(originals)
    assert all(json.loads(line)["quality_p"] >= 0.5 for line in kept)
    assert all(json.loads(line)["quality_p"] < 0.5 for line in rejected)
    predicted = run("predict", model, corpus / "b.jsonl", "--as", "probability").stdout.split()
    scores = {json.loads(line)["id"]: f"{json.loads(line)['quality_p']:.9g}" for line in kept + rejected}
    assert [scores[k] for k in range(150)] == predicted
    assert result.files == 3
    assert result.statistics["rows"] == 450
    assert result.statistics["kept"] == sum(
        len(read(tmp_path / "kept" / name)) for name in ("a.jsonl.gz", "b.jsonl", "deeper/c.jsonl.gz")
    )
    bins = result.statistics["models"]["quality_p"].values()
    assert sum(count for count, _ in bins) == 450
    assert json.loads((tmp_path / "kept/_steelyard/summary.json").read_text())["rows"] == 450


def test_threads_change_nothing(
    models: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "BLOCK", 2048)
    for threads in (1, 2):
        filter_files(
            models / "quality.model",
            corpus,
            tmp_path / str(threads),
            threads=threads,
            audit_size=20,
            **HALF,  # type: ignore[arg-type]
        )
    assert content(tmp_path / "1") == content(tmp_path / "2")


def test_several_models_in_one_read(models: Path, corpus: Path, tmp_path: Path) -> None:
    both = [models / "language.model", models / "quality.model"]
    keep = "language_label == 'en' and quality_p >= 0.5"
    filter_files(both, corpus / "b.jsonl", tmp_path / "kept", keep=keep)
    found = read(tmp_path / "kept/b.jsonl")
    truth = {each["id"] for each in rows(150, 3) if (each["quality"], each["language"]) == ("good", "en")}
    assert len({each["id"] for each in found} & truth) >= 0.9 * len(truth)
    assert list(found[0])[-3:] == ["language_label", "language_p", "quality_p"]
    with pytest.raises(InputError, match=r"by which score\? There are language_p\[de\], language_p\[en\]"):
        filter_files(both, corpus, tmp_path / "other", fraction=0.5)


def test_classes_have_scores_of_their_own(models: Path, corpus: Path, tmp_path: Path) -> None:
    result = filter_files(
        models / "language.model", corpus, tmp_path / "kept", keep="p[de] > 0.5 or label == fr"
    )
    labels = result.statistics["models"]["language_label"]
    assert labels["en"][1] == 0
    assert labels["de"][0] >= labels["de"][1] > 100


def _write_table(path: Path, documents: list[dict[str, Any]]) -> None:
    table = pa.table({name: [each[name] for each in documents] for name in documents[0]})
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=20)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, documents[0], delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(documents)


def _read_table(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return list(parquet.read_table(path).to_pylist())
    if path.suffix == ".arrow":
        return list(feather.read_table(path, memory_map=False).to_pylist())
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow"])
def test_tables_stay_tables(
    suffix: str, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = rows(60, 5)
    if suffix == "tsv":
        documents = [each | {"text": each["text"].replace('"', "")} for each in documents]
    _write_table(tmp_path / f"x.{suffix}", documents)
    monkeypatch.setattr(inputs, "BLOCK", 1024)
    both = [models / "quality.model", models / "language.model"]
    out = tmp_path / "kept"
    filter_files(
        both, tmp_path / f"x.{suffix}", out, keep="quality_p >= 0.5", rejects=tmp_path / "no", audit_size=4
    )
    found = {
        int(row["id"]): row
        for folder in (out, tmp_path / "no")
        for row in _read_table(folder / f"x.{suffix}")
    }
    assert [found[k]["text"] for k in range(60)] == [each["text"] for each in documents]
    write_jsonl(tmp_path / "y.jsonl", documents)
    filter_files(both, tmp_path / "y.jsonl", tmp_path / "json")
    for each in read(tmp_path / "json/y.jsonl"):
        assert float(found[each["id"]]["quality_p"]) == pytest.approx(each["quality_p"], abs=1e-8)
        assert found[each["id"]]["language_label"] == each["language_label"]


@pytest.mark.parametrize("suffix", ["xz", "bz2", "zst"])
def test_outputs_are_compressed_alike(suffix: str, models: Path, tmp_path: Path) -> None:
    text = write_jsonl(tmp_path / "plain.jsonl", rows(40, 6)).read_bytes()
    compress = {"xz": lzma.compress, "bz2": bz2.compress, "zst": pa.Codec("zstd").compress}
    (tmp_path / f"x.jsonl.{suffix}").write_bytes(compress[suffix](text))
    filter_files(models / "quality.model", tmp_path / f"x.jsonl.{suffix}", tmp_path / "out")
    again = filter_files(models / "language.model", tmp_path / "out", tmp_path / "second")
    assert again.statistics["rows"] == 40
    assert (tmp_path / f"second/x.jsonl.{suffix}").read_bytes()[:3] == compress[suffix](b"")[:3]


def test_many_blocks_of_zstd_are_one_file(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = write_jsonl(tmp_path / "plain.jsonl", rows(100, 6)).read_bytes()
    (tmp_path / "x.jsonl.zst").write_bytes(pa.Codec("zstd").compress(text))
    monkeypatch.setattr(inputs, "BLOCK", 1024)
    filter_files(models / "quality.model", tmp_path / "x.jsonl.zst", tmp_path / "out")
    again = filter_files(models / "language.model", tmp_path / "out/x.jsonl.zst", tmp_path / "second")
    assert again.statistics["rows"] == 100


def test_a_fraction_has_a_threshold_from_a_sample(
    models: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "BLOCK", 4096)
    model = models / "quality.model"
    result = filter_files(
        model, corpus, tmp_path / "kept", fraction=0.2, by="p[good]", sample_rows=200, threads=2
    )
    assert result.threshold is not None
    assert 200 <= result.threshold["rows"] < 450
    assert result.threshold["files"] == 3
    assert result.statistics["kept"] == pytest.approx(90, abs=25)
    (tmp_path / "kept/b.jsonl").unlink()
    again = filter_files(model, corpus, tmp_path / "kept", fraction=0.2, by="p[good]", sample_rows=1)
    assert again.threshold == result.threshold
    assert again.statistics == result.statistics
    small = filter_files(
        model, corpus / "b.jsonl", tmp_path / "small", fraction=0.5, by="p[good]", sample_rows=10
    )
    assert small.threshold is not None
    assert small.threshold["rows"] < 150
    few = filter_files(model, corpus, tmp_path / "few", fraction=0.5, by="p[good]", sample_rows=1)
    assert few.threshold is not None
    assert few.threshold["files"] == 1
    with pytest.raises(InputError, match="'label' is not a score that can rank"):
        filter_files(model, corpus, tmp_path / "x", fraction=0.2, by="label")


def test_a_large_sample_is_held_in_a_reservoir(
    models: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.filtering.threshold._RESERVOIR", 100)
    result = filter_files(models / "quality.model", corpus, tmp_path / "kept", fraction=0.2, by="p[good]")
    assert result.threshold is not None
    assert result.threshold["share"] == pytest.approx(0.2, abs=0.02)


def test_rows_that_cannot_be_read(models: Path, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", rows(30, 7))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:10], '{"text": 3', *lines[10:], "[]"]) + "\n")
    model = models / "quality.model"
    with pytest.raises(InputError, match=r"x.jsonl, line 11: .*\n\(skip_errors=True leaves"):
        filter_files(model, path, tmp_path / "kept")
    result = filter_files([model, models / "language.model"], path, tmp_path / "skipped", skip_errors=True)
    assert result.statistics["unreadable"] == 2
    assert result.problems[0].line == 11
    assert [each["id"] for each in read(tmp_path / "skipped/x.jsonl")] == [*range(30)]


def test_files_without_rows(models: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    write_jsonl(folder / "empty.jsonl", [])
    write_jsonl(folder / "none.jsonl.gz", [])
    result = filter_files(models / "quality.model", folder, tmp_path / "kept", **HALF)  # type: ignore[arg-type]
    assert result.statistics["rows"] == 0
    assert (tmp_path / "kept/empty.jsonl").read_bytes() == b""
    assert read(tmp_path / "kept/none.jsonl.gz") == []
    with pytest.raises(InputError, match="no row from which to choose"):
        filter_files(models / "quality.model", folder, tmp_path / "other", fraction=0.5, by="p[bad]")


def test_what_is_refused(models: Path, corpus: Path, tmp_path: Path) -> None:
    model, out = models / "quality.model", tmp_path / "out"
    refused: list[tuple[dict[str, Any], str]] = [
        ({"keep": "p > 1", "fraction": 0.1}, "give one of them"),
        ({"fraction": 1.5}, "between 0 and 1"),
        ({"rejects": tmp_path / "no"}, "nothing is rejected"),
        ({"keep": "q > 1"}, "there is no score 'q'"),
    ]
    for given, message in refused:
        with pytest.raises(InputError, match=message):
            filter_files(model, corpus, out, **given)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/quality.model").write_bytes(model.read_bytes())
    with pytest.raises(InputError, match="two models are called 'quality'"):
        filter_files([model, tmp_path / "other/quality.model"], corpus, out)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="there is no file in this folder"):
        filter_files(model, tmp_path / "nothing", out)
    with pytest.raises(InputError, match=r"standard input \(-\) cannot be filtered"):
        filter_files(model, "-", out)
    write_jsonl(tmp_path / "b.jsonl", rows(3, 0))
    with pytest.raises(InputError, match=r"would have the same output b\.jsonl"):
        filter_files(model, [corpus / "b.jsonl", tmp_path / "b.jsonl"], out)
    assert not out.exists()
    filter_files(model, corpus / "b.jsonl", out)
    with pytest.raises(InputError, match="has a key 'quality_p' already"):
        filter_files(model, out / "b.jsonl", tmp_path / "again")
    table = tmp_path / "table.csv"
    table.write_text("text,quality_p\na proof,0.5\n")
    with pytest.raises(InputError, match="has a column 'quality_p' already"):
        filter_files(model, table, tmp_path / "again")
    late = write_jsonl(tmp_path / "late.jsonl", [*rows(3000, 0), rows(1, 0)[0] | {"quality_p": 1}])
    with pytest.raises(InputError, match="a row has a key 'quality_p' already"):
        filter_files(model, late, tmp_path / "late")


def test_rejects_replace_no_other_files(models: Path, corpus: Path, tmp_path: Path) -> None:
    model, kept, rejected = models / "quality.model", tmp_path / "kept", tmp_path / "no"
    rejected.mkdir()
    (rejected / "b.jsonl").write_text("precious")
    with pytest.raises(InputError, match="is not empty, and not from this run"):
        filter_files(model, corpus, kept, rejects=rejected, **HALF)  # type: ignore[arg-type]
    assert (rejected / "b.jsonl").read_text() == "precious"
    with pytest.raises(InputError, match="would have the same files"):
        filter_files(model, corpus, kept, rejects=kept, **HALF)  # type: ignore[arg-type]
    (rejected / "b.jsonl").unlink()
    filter_files(model, corpus / "b.jsonl", kept, rejects=rejected, **HALF)  # type: ignore[arg-type]
    assert filter_files(model, corpus, kept, rejects=rejected, **HALF).already_done == 1  # type: ignore[arg-type]


def test_a_run_that_wrote_nothing_leaves_no_settings(models: Path, corpus: Path, tmp_path: Path) -> None:
    model, out = models / "quality.model", tmp_path / "out"
    other = tmp_path / "other.csv"
    other.write_text("content,id\na,1\n")
    with pytest.raises(InputError, match="there is no column 'text'"):
        filter_files(model, other, out)
    assert "quality_p is" in run("filter", model, corpus / "b.jsonl", "-o", out, "--keep", "p >= 0.5").stdout
    with pytest.raises(InputError, match="there is no column 'text'"):
        filter_files(model, other, out, **HALF)  # type: ignore[arg-type]
    assert (out / "_steelyard/settings.json").exists()


def test_two_at_once_do_not_mix(models: Path, corpus: Path, tmp_path: Path) -> None:
    arguments: Any = models / "quality.model", corpus, tmp_path / "kept"

    def meanwhile(*_: object) -> None:
        with pytest.raises(InputError, match="kept: another process is writing to it"):
            filter_files(*arguments, **HALF)  # type: ignore[arg-type]

    assert filter_files(*arguments, progress=meanwhile, **HALF).files == 3  # type: ignore[arg-type]
    assert filter_files(*arguments, **HALF).already_done == 3  # type: ignore[arg-type]


def test_a_word_in_a_text_is_no_key(models: Path, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [{"text": 'a "quality_p" is'}, {"text": "x"}])
    path.write_text('{"text": "x", "deeper": {"quality_p": 1}}\n' + path.read_text())
    assert filter_files(models / "quality.model", path, tmp_path / "out").statistics["kept"] == 3


def test_formats_without_columns_are_refused(models: Path, tmp_path: Path) -> None:
    data = tmp_path / "x.vw"
    data.write_text("".join(f"{1 if k % 2 else -1} |a w{k % 2}\n" for k in range(20)))
    run("train", data, "--bits", "12", "-o", tmp_path / "vw.model")
    with pytest.raises(InputError, match="has no columns to add scores to"):
        filter_files(tmp_path / "vw.model", data, tmp_path / "vw")
    from openpyxl import Workbook

    book = Workbook()
    for row in (["text", "id"], ["proof", 1]):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(InputError, match="workbooks are no input"):
        filter_files(models / "quality.model", tmp_path / "x.xlsx", tmp_path / "out")


def test_numbers_and_other_encodings(tmp_path: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text(
        "label,weekday,size\n" + "".join(f"{k / 7},käse{k % 3},{k}\n" for k in range(50)), encoding="latin-1"
    )
    run("train", data, "--numbers", "--encoding", "latin-1", "--bits", "12", "-o", tmp_path / "size.model")
    filter_files(tmp_path / "size.model", data, tmp_path / "kept", fraction=0.5, encoding="latin-1")
    kept = (tmp_path / "kept/x.csv").read_text(encoding="utf-8").splitlines()
    assert kept[0] == "label,weekday,size,size_raw"
    assert 20 <= len(kept) < 50
    assert "käse" in kept[1]


def test_models_that_read_alike_share_the_reading(models: Path, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "same.model").write_bytes((models / "quality.model").read_bytes())
    both = [models / "quality.model", tmp_path / "same.model"]
    filter_files(both, corpus / "b.jsonl", tmp_path / "kept")
    assert all(each["quality_p"] == each["same_p"] for each in read(tmp_path / "kept/b.jsonl"))


def test_a_table_without_a_header_gets_none(tmp_path: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("".join(f"{'ab'[k % 2]},{k % 5 + 3 * (k % 2)},{k % 3}\n" for k in range(60)))
    run("train", data, "--no-header", "--label", "1", "--bits", "12", "-o", tmp_path / "x.model")
    filter_files(tmp_path / "x.model", data, tmp_path / "kept", keep="label == a")
    assert (tmp_path / "kept/x.csv").read_text().startswith("a,0,0,")
