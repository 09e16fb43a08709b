"""What is written of rows, whatever they look like."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.filtering import filter_files
from steelyard.filtering.inputs import Input, Preparer
from steelyard.filtering.scorer import Scorers
from steelyard.io import sources
from steelyard.io.columns import NUMBER, Column, Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import Dialect, InputSpec
from steelyard.scoring.copying import JsonCopy
from steelyard.scoring.records import records_of
from steelyard.scoring.rendering import renderer
from tests.filtering.corpus import read, rows, write_jsonl

ODD = ["{}", "{ \t}", '  {"text": "a"} \t', '{"text": "a" }\r', '{"text": "%d \\" }", "n": {}}', ""]


def test_objects_of_every_shape_stay_json(models: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_bytes("\n".join(ODD).encode())
    both = [models / "language.model", models / "quality.model"]
    filter_files(both, tmp_path / "odd.jsonl", tmp_path / "kept")
    found = [json.loads(line) for line in (tmp_path / "kept/odd.jsonl").read_text().splitlines()]
    assert [{name: value for name, value in row.items() if name in ("text", "n")} for row in found] == [
        json.loads(line) for line in ODD if line
    ]
    assert all(list(row)[-3:] == ["language_label", "language_p", "quality_p"] for row in found)


def test_each_line_is_its_row_and_what_python_writes(models: Path, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "some.jsonl", rows(40, 5))
    scorers = Scorers([models / "language.model"])
    preparer, given = Preparer(scorers), Input(str(source), "some.jsonl")
    with preparer.open(given) as head:
        prepared = preparer.prepare(given, head)
        (block,) = prepared.blocks(head.source)
    assert isinstance(prepared.renderer, JsonCopy)
    chosen = np.array([0, 3, 39])
    numbers = np.array([1e-300, 0.1 + 0.2, 1.0])
    labels = np.array(["de", '"%s\n', "de"], object)
    found = prepared.renderer.render(block, chosen, [labels, numbers]).decode().splitlines()
    lines = source.read_text().splitlines()
    assert found == [
        f'{lines[row][:-1]}, "language_label": {json.dumps(label)}, "language_p": {number:.9g}}}'
        for row, label, number in zip(chosen.tolist(), labels, numbers.tolist(), strict=True)
    ]
    assert prepared.records.row(block, 3) == json.loads(lines[3])


def test_a_key_that_only_looks_taken_is_allowed(models: Path, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "some.jsonl", [{"text": "quality_p"}, {"list": ["quality_p"]}])
    filter_files(models / "quality.model", path, tmp_path / "kept")
    assert len(read(tmp_path / "kept/some.jsonl")) == 2
    path = write_jsonl(tmp_path / "taken.jsonl", [{"text": "a"}, {"text": "b", "quality_p": 1}])
    with pytest.raises(InputError, match="a row has a key 'quality_p' already"):
        filter_files(models / "quality.model", path, tmp_path / "other")


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_is_missing_is_empty_or_null(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"some.{kind}"
    path.write_text("x,y\n1,2\n3,4\n" if kind == "csv" else '{"x": 1}\n[3]\n{"x": 2}\n')
    dialect = Dialect(",", True, True) if kind == "csv" else None
    spec = InputSpec(kind, 8, columns=Columns((Column("x", NUMBER),)), dialect=dialect)
    records = records_of(spec, str(path))
    with sources.open_source(str(path)) as source:
        (block,) = spec.reader().blocks(source, 1 << 16)
    made = renderer(kind, records, ["p", "label"], [True, False])
    count = records.count(block)
    numbers, names = np.full(count, np.nan), np.full(count, None, object)
    numbers[0], names[0] = 0.25, "a"
    found = made.render(block, np.arange(count), [numbers, names]).decode().splitlines()
    if kind == "csv":
        assert found == ["1,2,0.25,a", "3,4,,"]
    else:
        assert found == ['{"x": 1, "p": 0.25, "label": "a"}', "[3]", '{"x": 2, "p": null, "label": null}']
