"""What the page for those who come from Vowpal Wabbit says of it, checked where it is installed."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from steelyard.cli import main
from steelyard.features import Names
from steelyard.io.input_spec import InputSpec
from steelyard.io.namespaces import NamespaceOptions
from steelyard.io.stream import Stream
from tests.support.vw_text import data_file

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


def indices(path: Path, bits: int, **ours: Any) -> dict[str, int]:
    """The name and the index of every feature here."""
    spec = InputSpec("vw", bits=bits, **ours)
    names = Names(spec.features)
    for _ in Stream([path], spec.reader(names), names=names):
        pass
    return {feature: index for index, feature in names.by_index().items()}


NAMESPACES = """\
1 |abc a b c d |b x y:2 z
-1 |b y z x |abc d a |axe v q 3
1 | bare 17 |c p q r
"""


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("--ngram 3 --skips 2", {"ngram": ("3",), "skips": ("2",)}),
        ("--ngram a2 --ngram b3 --skips b1", {"ngram": ("a2", "b3"), "skips": ("b1",)}),
        ("--ignore ab", {"ignore": ("ab",)}),
        ("--keep b --keep c --ngram 2", {"keep": ("b", "c"), "ngram": ("2",)}),
        ("-q ba -q bb", {"quadratic": ("ba", "bb")}),
        ("-q a: --ngram 2", {"quadratic": ("a:",), "ngram": ("2",)}),
        ("--cubic aab", {"quadratic": ("aab",)}),
        ("-q ::", {"quadratic": ("::",)}),
    ],
)
def test_namespaces_by_letter_in_both(theirs: str, ours: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    path, readable = tmp_path / "rows.vw", tmp_path / "readable"
    path.write_text(NAMESPACES)
    vowpal_wabbit(path, *f"-b 24 --quiet {theirs} --invert_hash".split(), str(readable))
    entries = dict(re.findall(r"^([^:\n]+):(\d+):", readable.read_text(), re.MULTILINE))
    entries.pop("Constant")
    found = indices(path, 24, namespaces=NamespaceOptions(**ours))
    assert found == {name: int(index) for name, index in entries.items()}


@pytest.mark.parametrize(
    ("name", "bits", "theirs", "ours"),
    [
        ("0001.dat", 18, "", {}),
        ("0002.dat", 18, "", {}),
        ("0002.dat", 24, " -q Tf -q ff", {"interactions": ("T*f", "f*f")}),
        ("0002.dat", 24, " --cubic Tff", {"interactions": ("T*f*f",)}),
        ("0002.dat", 24, " -q ::", {"namespaces": NamespaceOptions(quadratic=("::",))}),
        (
            "0001.dat",
            24,
            " --ngram 2 --skips 1",
            {"namespaces": NamespaceOptions(ngram=("2",), skips=("1",))},
        ),
        ("rcv1_small.dat", 18, "", {}),
        ("rcv1_small_test.data", 18, "", {}),
    ],
)
def test_the_same_indices_in_both(
    name: str, bits: int, theirs: str, ours: dict[str, Any], tmp_path: Path
) -> None:
    path = data_file(f"vw/{name}")
    loss = "squared" if name.startswith("0002") else "logistic"  # under which no weight stays 0
    options = f"-b {bits}{theirs} --loss_function {loss} --quiet --invert_hash".split()
    vowpal_wabbit(path, *options, str(tmp_path / "readable"))
    entries = re.findall(r"^([^:\n]+\^[^:\n]+):(\d+):", (tmp_path / "readable").read_text(), re.MULTILINE)
    there = {feature: int(index) for feature, index in entries}
    assert there == indices(path, bits, **ours)
    stem = name.partition(".")[0]
    assert f"| {stem} | `-b {bits}{theirs}` | {len(there):,} | all |" in PAGE
