"""Model files that are damaged or are none: a line that says so, whatever is wrong with them."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors import safe_open
from safetensors.numpy import save_file

from steelyard import model_file
from steelyard.cli import main
from tests.cli.running import refused, rows, run


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "rows.vw"
    path.write_text(rows(40))
    run("train", path, "-o", tmp_path / "small.model", "--bits", 6)
    return tmp_path / "small.model"


def changed(path: Path, about: str, old: str, new: str) -> None:
    """The same model with other metadata."""
    with safe_open(path, "numpy") as file:
        text = file.metadata()["steelyard"]
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert json.dumps(json.loads(text)[about])
    assert old in text
    save_file(arrays, path, {"steelyard": text.replace(old, new)})


@pytest.mark.parametrize(
    ("about", "old", "new"),
    [
        ("extra", '"bits": 6', '"bits": 12'),
        ("extra", '"bits"', '"bots"'),
        ("extra", '"format": "vw"', '"format": "jsonl"'),
        ("extra", '"vw"', r'"\ud800"'),
        ("extra", '"bits": 6', '"bits": "six"'),
        ("settings", '"settings"', '"sittings"'),
        ("settings", '"name"', '"nome"'),
        ("settings", '"l1": 0.0', '"l1": "none"'),
        ("features", '"features": 64', '"features": null'),
    ],
)
def test_metadata_that_make_no_sense(small: Path, about: str, old: str, new: str) -> None:
    """Above all not a model whose rows have more features than it has weights."""
    changed(small, about, old, new)
    for command in (("inspect", small), ("predict", small, small.with_name("rows.vw"))):
        assert "damaged" in refused(*command)


def test_names_out_of_range(small: Path) -> None:
    with safe_open(small, "numpy") as file:
        text = file.metadata()["steelyard"]
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    arrays["names_first"] = np.full_like(arrays["names_first"], 64)
    save_file(arrays, small, {"steelyard": text})
    assert "damaged one (its array 'names_first' names features" in refused("inspect", small)


def test_damaged_files(small: Path, tmp_path: Path) -> None:
    """Bytes changed at random, mostly in the header: an error in a line, or a model that can be used."""
    data, draw, damaged = small.read_bytes(), random.Random(0), tmp_path / "damaged"
    header = int.from_bytes(data[:8], "little") + 8
    for _ in range(150):
        text = bytearray(data)
        place = draw.randrange(header if draw.random() < 0.7 else len(text))
        text[place] = draw.choice(b'0159"{}[],:aen') if 8 < place < header else draw.randrange(256)
        damaged.write_bytes(text)
        for command in (["inspect"], ["predict", str(small.with_name("rows.vw"))]):
            result = CliRunner().invoke(main, [command[0], str(damaged), *command[1:]])
            assert result.exception is None or isinstance(result.exception, SystemExit), text[:header]


def test_what_is_kept_comes_back(small: Path) -> None:
    model_file.save(small.with_name("again"), model_file.load(small))
    assert small.with_name("again").read_bytes() == small.read_bytes()
