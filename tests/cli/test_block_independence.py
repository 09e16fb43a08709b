"""The law: whatever the blocks and however many the threads, the bits are the same.

Model files hold the weights, the clock, the progressive loss and the names in their order, so equal
bytes say it all; predictions are compared as they are printed.
"""

import gzip
import itertools
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.features import interactions
from tests.cli.running import blocks_of, run, stored, trained
from tests.support import slow_text
from tests.support.vw_text import data_file
from tests.text import texts

WAYS = list(itertools.product([1, 97, 1 << 21], [1, 2, 4]))
FEW_WAYS = [(1, 2), (97, 1), (97, 4), (1 << 21, 2)]
SAID = ("progressive_loss", "weight", "examples", "learned", "names", "names_sharing_an_index", "skipped",
        "problems", "best_constant", "nonzero_weights")  # fmt: skip
quick = settings(
    deadline=None,
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def one_way(paths: list[Path], folder: Path, size: int, threads: int, *options: object) -> tuple[object, ...]:
    """All that a training and a prediction say, read in this way."""
    with pytest.MonkeyPatch.context() as patched:
        blocks_of(size, patched)
        model = folder / "law.model"
        found = trained(*paths, *options, "-o", model, "--threads", threads, "--on-error", "skip")
        predicted = run("predict", model, *paths, "--threads", threads, "--on-error", "skip")
        return model.read_bytes(), [found[key] for key in SAID], predicted.stdout, predicted.stderr


def check(paths: list[Path], folder: Path, ways: list[tuple[int, int]], *options: object) -> None:
    expected = one_way(paths, folder, 1 << 21, 1, *options)
    for size, threads in ways:
        assert one_way(paths, folder, size, threads, *options) == expected, (size, threads)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vw/0001.dat", ("--loss", "logistic", "--bits", 8)),
        ("vw/0002.dat", ("--interactions", "T*f", "--interactions", "T*T", "--bits", 10, "--l1", 1e-4)),
    ],
)
def test_real_files(tmp_path: Path, name: str, options: tuple[object, ...]) -> None:
    path = tmp_path / "part"
    path.write_bytes(b"\n".join(data_file(name).read_bytes().splitlines()[:50]))
    check([path], tmp_path, WAYS, *options)


def test_real_files_in_blocks_of_all_sizes(tmp_path: Path) -> None:
    sizes = [(50_000, 2), (9_999, 4)]
    check([data_file("vw/rcv1_small.dat")], tmp_path, sizes, "--loss", "hinge", "--bits", 14)
    part = tmp_path / "part.svm"
    part.write_bytes(b"\n".join(gzip.decompress(data_file("a9a.gz").read_bytes()).splitlines()[:3000]))
    check([part], tmp_path, [(9_999, 4), (1 << 16, 2)], "--passes", 2, "--holdout", 5)


@pytest.mark.no_cover
@quick
@given(
    st.lists(st.one_of(texts.vw_line(), texts.vw_line(wrong=True)), min_size=1, max_size=12),
    st.sampled_from(
        ["", "--interactions a*b --interactions a*a", "-q :: --ngram 2", "--ngram a3 --skips 1 --ignore b"]
    ),
)
def test_vw(tmp_path: Path, lines: list[bytes], made: str) -> None:
    path = tmp_path / "rows.vw"
    path.write_bytes(texts.block([b"1 |a b |b c", *lines]))
    options = (*made.split(), "--bits", 5 if made else 3)
    check([path, path], tmp_path, FEW_WAYS, "--loss", "quantile", "--update", "implicit", *options)


@pytest.mark.no_cover
@quick
@given(st.lists(st.one_of(texts.svmlight_line(), texts.svmlight_line(wrong=True)), max_size=12))
def test_svmlight(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 3:1\n" + b"\r\n".join(lines))
    check([path], tmp_path, FEW_WAYS, "--loss", "quantile", "--bits", 4)


@quick
@given(st.lists(texts.vw_line(), min_size=1, max_size=8))
def test_names_are_those_of_a_slow_reader(tmp_path: Path, lines: list[bytes]) -> None:
    """The first name at an index is kept, in the order of the file: the row's features, then its crosses."""
    path = tmp_path / "rows.vw"
    path.write_bytes(texts.block([b"1 |a b |Y c", *lines]))
    expected: dict[int, str] = {}
    seeds = [slow_text.key(name, 0) for name in (b"a", b"Y")]
    (cross,) = interactions(["a*Y"]).crosses
    assert cross == (0, 1)
    for line in [b"1 |a b |Y c", *lines]:
        row = slow_text.vw(line)
        named = [(f.key, _name(f)) for f in row.features] if row else []
        fields = [[f for f in (row.features if row else []) if _seed(f) == seed] for seed in seeds]
        for one, two in itertools.product(*fields):
            key = (one.key * 0x01000193 ^ two.key) & 0xFFFFFFFF
            named.append((key, f"{_name(one)}*{_name(two)}"))
        for key, name in named:
            expected.setdefault(key & 31, name)
    trained(path, "--loss", "quantile", "--interactions", "a*Y", "--bits", 5, "-o", tmp_path / "m")
    names = stored(tmp_path / "m").content.names
    assert names is not None
    assert names.by_index() == expected


def _seed(feature: slow_text.Feature) -> int:
    return slow_text.key(feature.space, 0) if feature.space else 0


def _name(feature: slow_text.Feature) -> str:
    return (feature.space + b"^" * bool(feature.space) + feature.name).decode()


def test_weights_of_h_are_h_copies(tmp_path: Path) -> None:
    """Through files and commands too: with a plain rate the model is the same to rounding."""
    heavy, copies = tmp_path / "heavy.vw", tmp_path / "copies.vw"
    lines = [(1, 3, "|a x y:2"), (-1, 5, "|a x z"), (1, 1, "|a y z:0.5"), (-1, 4, "|a x:0.25")]
    heavy.write_text("".join(f"{y} {h} {x}\n" for y, h, x in lines))
    copies.write_text("".join(f"{y} {x}\n" * h for y, h, x in lines))
    options = ("--loss", "logistic", "--scaling", "plain", "--dtype", "float64", "--bits", 6)
    for path in (heavy, copies):
        trained(path, *options, "-o", path.with_suffix(".model"))
    one, two = (stored(path.with_suffix(".model")).model for path in (heavy, copies))
    assert one.clock == two.clock == 13.0
    assert one.coefficients() == pytest.approx(two.coefficients(), rel=1e-9)
    assert math.isclose(one.bias, two.bias, rel_tol=1e-9)
