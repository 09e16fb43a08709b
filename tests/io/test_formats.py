"""Which format: by the suffix, else by the first lines."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.io import formats, inference, sources
from steelyard.io.columns import ColumnOverrides
from steelyard.io.errors import InputError
from tests.io.inferring import format_of
from tests.support.vw_text import data_file

SNIFFED = {
    b"1 |a b\n-1 'tag|a b:2\n|x y\n": "vw",
    b"1 1:2\n-1 qid:3 4:5e-1 # said\n0\n# a comment\n": "svmlight",
    b"# a comment only\n": "svmlight",
    b'{"a": 1}\n  {"a": 2}\n': "jsonl",
    b"a,b\n1,2\n": "csv",
    b"a\tb, c\td\n1\t2\t3\n": "tsv",
    b"\xef\xbb\xbf1 |a b\n": "vw",
    b"\n\n1 |a b\n": "vw",
    b"1 |a b\nno bar\n": "csv",
    b"PAR1....": "parquet",
    b"ARROW1\0\0": "arrow",
    b"\xff\xff\xff\xff0000": "arrow",
}


@pytest.mark.parametrize("text", SNIFFED)
@pytest.mark.parametrize("packed", [False, True])
def test_by_the_first_lines(tmp_path: Path, text: bytes, packed: bool) -> None:
    path = tmp_path / "file.data"
    path.write_bytes(gzip.compress(text) if packed else text)
    assert formats.identify(str(path)).name == SNIFFED[text]
    with formats.open_head(str(path)) as head:
        formats.sniff(head)
        assert head.source.read(100) == text


@pytest.mark.parametrize(
    ("name", "found"),
    [("a.vw", "vw"), ("a.VW.gz", "vw"), ("a.svm.xz", "svmlight"), ("b.csv.zst", "csv"),
     ("a.libsvm", "svmlight"),
     ("a.tsv.bz2", "tsv"), ("c.ndjson", "jsonl"), ("d.feather", "arrow"), ("e.pq", "parquet")],
)  # fmt: skip
def test_by_the_suffix(name: str, found: str) -> None:
    assert formats.identify(name).name == found


def test_a_head_that_ends_within_a_line(tmp_path: Path) -> None:
    """The last line of the head may be cut off before its bar, and does not count."""
    path = tmp_path / "long"
    line = b"'" + b"x" * (formats.SNIFFED - 20) + b"|a b\n"
    path.write_bytes(line + line)
    assert formats.identify(str(path)).name == "vw"
    path.write_bytes(line.replace(b"|", b"x" * 50 + b"|"))
    assert (
        formats.identify(str(path)).name == "csv"
    )  # a single line that does not end: nothing better is known


def test_files_of_one_format(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.vw", "b", "c.csv")]
    for path in paths:
        Path(path).write_text("1 |a b\n")
    assert format_of(paths[:2]) == format_of([*paths[:2], "-"]) == "vw"
    with pytest.raises(InputError, match=r"several formats.*a\.vw is vw, .*c\.csv is csv"):
        format_of(paths)


@pytest.mark.parametrize("text", [b"", b"\n \n", b"\xef\xbb\xbf\n"])
def test_nothing_in_it(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(text)
    with pytest.raises(InputError, match=f"^{path}: is empty"):
        formats.identify(str(path))


DATA = {
    "a9a.gz": "svmlight", "a9a.t.gz": "svmlight", "w8a.gz": "svmlight", "rcv1-ccat.svm.xz": "svmlight",
    "adult.data.gz": "csv", "adult.test.gz": "csv", "census-income.gz": "csv", "credit-costs.csv.gz": "csv",
    "open-bandit/bts_men.csv.gz": "csv", "sms-spam.tsv.xz": "tsv", "enron-spam.tsv.xz": "tsv",
    "arxiv-astro.tsv.xz": "tsv", "url-spam.tsv.xz": "tsv", "newsgroups.tsv.xz": "tsv",
    "vw/0001.dat": "vw", "vw/0002.dat": "vw", "vw/rcv1_small.dat": "vw", "vw/rcv1_small_test.data": "vw",
    "amazon-reviews/books_test.svmlight.gz": "svmlight",
}  # fmt: skip


@pytest.mark.parametrize("name", DATA)
def test_real_files(name: str, tmp_path: Path) -> None:
    """Also where the suffix says nothing."""
    path = data_file(name)
    assert formats.identify(str(path)).name == DATA[name]
    bare = tmp_path / "bare"
    bare.symlink_to(path.resolve())
    assert formats.identify(str(bare)).name == DATA[name]


def test_every_format_is_found_in_its_module() -> None:
    assert formats.names() == (
        "arrow",
        "csv",
        "excel",
        "fasttext",
        "jsonl",
        "parquet",
        "svmlight",
        "tsv",
        "vw",
    )
    suffixes = [suffix for name in formats.names() for suffix in formats.by_name(name).suffixes]
    assert len(suffixes) == len(set(suffixes))
    orders = [formats.by_name(name).order for name in formats.names()]
    assert len(orders) == len(set(orders))


def test_formats_load_no_reader() -> None:
    """Readers, their kernels and pyarrow are imported when a file is read."""
    code = (
        "import sys; from steelyard.io import formats; formats.names();"
        "print([name for name in sys.modules if name.partition('.')[0] in ('numba', 'pyarrow')])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    code = (
        "import sys; from steelyard.io import compatibility, inference; inference.formats.names();"
        "print(*[name.removeprefix('steelyard.io.') for name in sys.modules])"
    )
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    readers = {"arrow", "arrow_arrays", "arrow_columns", "arrow_csr", "blocks", "delimited", "jsonl"}
    readers |= {"sparse_reader", "stream", "tables"}
    assert readers.isdisjoint(loaded)


def test_a_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To sniff its format, to infer its columns, and for the labels of its first rows."""
    opened: list[str] = []
    usual = sources.Source.__init__

    def noted(self: sources.Source, path: str, encoding: str | None = None) -> None:
        opened.append(path)
        usual(self, path, encoding)

    monkeypatch.setattr(sources.Source, "__init__", noted)
    path = tmp_path / "bare"
    path.write_text("y,x\n" + "a,1.5\nb,2\n" * 10)
    spec, labels = inference.infer([str(path)], bits=12)
    assert (spec.format, spec.bits, labels) == ("csv", 12, ["a", "b"])
    assert opened == [str(path)]
    overrides = formats.TableOverrides(ColumnOverrides(label="x"), header=True)
    spec, labels = inference.infer([str(path)], overrides, format_name="tsv")
    assert (spec.format, labels) == ("tsv", ["1.5", "2"])
    assert opened == [str(path)] * 2
