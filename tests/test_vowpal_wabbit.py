"""What the page for those who come from Vowpal Wabbit says of it, checked where it is installed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from steelyard.cli import main
from steelyard.features import Names
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from tests.vw_text import data_file

pytest.importorskip("vowpalwabbit")
PAGE = (Path(__file__).parent.parent / "docs/from-vowpal-wabbit.md").read_text(encoding="utf-8")


def vowpal_wabbit(path: Path, *options: str) -> str:
    """Learn the file; returns what is printed."""
    done = subprocess.run(
        [sys.executable, "-m", "vowpalwabbit", "-d", str(path), *options],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "theirs", "ours", "factor"),
    [
        ("rcv1_small.dat", "logistic -l 0.5", "logistic --learning-rate 0.5", 1),
        ("rcv1_small.dat", "hinge -l 0.5", "hinge --learning-rate 0.5", 1),
        ("rcv1_small.dat", "squared -l 0.5", "squared --learning-rate 1", 2),
        ("0002.dat", "quantile --quantile_tau 0.25 -l 0.05", "quantile --tau 0.25 --learning-rate 0.05", 1),
        ("0002.dat", "squared -l 0.05", "squared --learning-rate 0.1", 2),
    ],
)
def test_the_same_run_in_both(name: str, theirs: str, ours: str, factor: int) -> None:
    path = data_file(f"vw/{name}")
    bounds = ["--min_prediction", "-100", "--max_prediction", "100"]
    text = vowpal_wabbit(path, *f"--loss_function {theirs} --invariant --power_t 0".split(), *bounds)
    there = re.findall(r"average loss = (\S+)", text)[0]
    result = CliRunner().invoke(
        main, ["train", str(path), *f"--loss {ours} --scaling plain --json".split()], catch_exceptions=False
    )
    here = json.loads(result.stdout)["progressive_loss"]
    assert factor * here == pytest.approx(float(there), abs=2e-6)
    stem = name.removesuffix(".dat")
    assert f"| {stem} | `{theirs}` | {there} | `{ours}` | {here:.6f} |" in PAGE


@pytest.mark.parametrize(
    ("name", "bits", "theirs", "ours"),
    [
        ("0001.dat", 18, "", ()),
        ("0002.dat", 18, "", ()),
        ("0002.dat", 24, " -q Tf -q ff", ("T*f", "f*f")),
        ("0002.dat", 24, " --cubic Tff", ("T*f*f",)),
        ("rcv1_small.dat", 18, "", ()),
        ("rcv1_small_test.data", 18, "", ()),
    ],
)
def test_the_same_indices_in_both(
    name: str, bits: int, theirs: str, ours: tuple[str, ...], tmp_path: Path
) -> None:
    path = data_file(f"vw/{name}")
    loss = "squared" if name.startswith("0002") else "logistic"  # under which no weight stays 0
    options = f"-b {bits}{theirs} --loss_function {loss} --quiet --invert_hash".split()
    vowpal_wabbit(path, *options, str(tmp_path / "readable"))
    entries = re.findall(r"^([^:\n]+\^[^:\n]+):(\d+):", (tmp_path / "readable").read_text(), re.MULTILINE)
    there = {feature: int(index) for feature, index in entries}
    reading = InputSpec("vw", bits=bits, interactions=ours)
    names = Names(reading.features)
    for _ in Stream([path], reading.reader(names), names=names):
        pass
    assert there == {feature: index for index, feature in names.by_index().items()}
    stem = name.partition(".")[0]
    assert f"| {stem} | `-b {bits}{theirs}` | {len(there):,} | all |" in PAGE
