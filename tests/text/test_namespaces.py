"""Namespaces by first letters and their n-grams, through the commands: as kernels, and as plain Python."""

from pathlib import Path

import pytest

from tests.cli.running import PLAIN, run

ROWS = "1 |abc x:2 y z |b u v |c k\n-1 |a y z w | plain |c k\n1 |c only\n-1 |abc x y |b u\n"


@pytest.mark.filterwarnings("ignore:overflow encountered")  # hashes wrap around, in every thread
@pytest.mark.parametrize(
    "options",
    [
        ("--ngram", "2", "--skips", "1", "-q", "ab", "--ignore", "c"),
        ("--ngram", "a3", "--keep", "a"),
        ("--ngram", "2"),
        ("-q", "::"),
    ],
)
def test_options_of_namespaces(tmp_path: Path, options: tuple[str, ...]) -> None:
    path, model = tmp_path / "rows.vw", tmp_path / "m"
    path.write_text(ROWS)
    run("train", path, *PLAIN, *options, "--threads", 1, "-o", model)
    said = run("explain", model, path).stdout
    if options[0] == "--ngram":
        assert "abc^x^y" in said
    assert ("c^only" in said) == ("--ignore" not in options and "--keep" not in options)
