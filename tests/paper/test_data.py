"""Originals are taken where they are, stand-ins elsewhere, and none is called by another's name."""

from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest

from paper import data, dataset_paths, rows
from paper.dataset_paths import FORMS
from tests.paper.originals import SVMLIGHT, VOWPAL, write, write_mail, write_stand_ins

DENSE = [[0.5, 0, 0.25, 0], [0, 1, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 2]]
"""Features 1 to 4: there is no 0."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder, empty, and nothing kept of any other."""
    path = tmp_path / "data"
    path.mkdir()
    monkeypatch.setenv("STEELYARD_DATA", str(path))
    monkeypatch.setattr(data, "_kept", [])
    monkeypatch.setattr(data, "_digests", {})
    monkeypatch.setattr(data, "_asked", set())
    return path


def test_stand_ins(folder: Path) -> None:
    write_stand_ins(folder)
    found = {place: data.load(place) for place in data.PLACES}
    assert [each.name for each in found.values()] == ["rcv1-ccat", "arxiv-astro", "enron-spam", "url-spam"]
    assert not any(each.original or each.note or each.first_test for each in found.values())
    assert found["rcv1"].matrix.toarray().tolist() == DENSE
    assert found["rcv1"].labels.tolist() == [1.0, -1.0, 1.0, -1.0]
    assert found["astro"].matrix.shape == (2, 6)
    assert sorted(found["spam"].matrix.data) == [1, 1, 1, 2]
    assert found["webspam"].matrix.shape[0] == 2
    assert [data.name(place) for place in data.PLACES] == [each.name for each in found.values()]


@pytest.mark.parametrize("packed", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize(
    ("place", "names", "text"),
    [
        ("rcv1", ("rcv1.train.vw", "rcv1.test.vw"), VOWPAL),
        ("rcv1", ("rcv1_train.binary", "rcv1_test.binary"), SVMLIGHT),
        ("astro", ("astro-ph_train.dat", "astro-ph_test.dat"), SVMLIGHT),
    ],
)
def test_originals_with_an_official_split(
    folder: Path, place: str, names: tuple[str, str], text: str, packed: str
) -> None:
    write_stand_ins(folder)
    write(folder, names[0] + packed, text)
    write(folder, names[1] + packed, "".join(text.splitlines(keepends=True)[:2]))
    found = data.load(place)
    assert found.original
    assert found.name in ("rcv1", "astro-ph")
    assert found.matrix.toarray().tolist() == [*DENSE, *DENSE[:2]]
    assert found.labels.tolist() == [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]
    train, test = found.split(7)
    assert sorted(train) == [0, 1, 2, 3]
    assert test.tolist() == [4, 5]
    orders = {tuple(found.split(seed)[0]) for seed in range(20)}
    assert len(orders) > 1


def test_a_test_set_with_other_features(folder: Path) -> None:
    write(folder, "rcv1_train.binary", SVMLIGHT)
    write(folder, "rcv1_test.binary", "1 9:1\n-1 1:1\n")
    # 1, 2, 3, 4 and 9
    assert data.load("rcv1").matrix.toarray()[-2:].tolist() == [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0]]


def test_mail(folder: Path) -> None:
    index = write_mail(folder)
    found = data.load("spam")
    assert (found.name, found.original) == ("trec05p-1", True)
    assert found.labels.tolist() == [1.0, -1.0]
    # buy caf minutes now see subject you; é is no letter here, and the attachment's line is no word
    assert found.matrix.shape == (2, 7)
    before = data.digest("spam")
    assert list(data.sources("spam")) == [index, folder / "trec05p-1/data"]
    data._mail_digest.cache_clear()
    write(folder, "trec05p-1/data/000/001", "another\n")
    assert data.digest("spam") != before


def test_mail_that_is_not_there(folder: Path) -> None:
    write(folder, "trec05p-1/full/index", "spam ../data/000/000\n")
    with pytest.raises(click.ClickException, match="index, line 1: there is no message"):
        data.load("spam")
    write(folder, "trec05p-1/full/index", "")
    with pytest.raises(click.ClickException, match=r"expected two labels, .* not none"):
        data.load("spam")
    write(folder, "trec05p-1/full/index", "eggs ../data/000/000\n")
    with pytest.raises(click.ClickException, match="expected 'spam PATH' or 'ham PATH'"):
        data.load("spam")


def test_too_large_a_file_is_cut_and_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_BLOCK", 3)
    write(folder, "webspam_wc_normalized_trigram.svm", SVMLIGHT * 3)
    whole = data.load("webspam")
    assert (whole.name, whole.original, whole.note) == ("webspam", True, "")
    assert whole.matrix.toarray().tolist() == DENSE * 3
    monkeypatch.setattr(rows, "MOST_VALUES", 8)
    data._load.cache_clear()
    cut = data.load("webspam")
    assert cut.note == "the first 6 rows, which hold at most 8 values"
    assert cut.matrix.toarray().tolist() == (DENSE * 3)[:6]
    assert len(cut.labels) == 6


def test_the_last_rows_of_webspam_are_its_test_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "webspam_wc_normalized_unigram.svm", SVMLIGHT * 3)
    whole = data.load("webspam")
    assert whole.first_test is None  # fewer than the paper's 50,000
    forms = [replace(form, test_rows=2 * form.original) for form in dataset_paths.FORMS["webspam"]]
    monkeypatch.setitem(dataset_paths.FORMS, "webspam", tuple(forms))
    assert data.load("webspam").first_test == len(whole.labels) - 2


def test_the_smaller_webspam_has_a_name_of_its_own(folder: Path) -> None:
    write(folder, "webspam_wc_normalized_unigram.svm.xz", SVMLIGHT)
    assert (data.name("webspam"), data.load("webspam").original) == ("webspam-unigram", True)
    write(folder, "webspam_wc_normalized_trigram.svm.xz", SVMLIGHT)
    assert data.name("webspam") == "webspam"


def test_features_that_never_come_take_no_room(folder: Path) -> None:
    write(folder, "webspam_wc_normalized_trigram.svm", "1 5:1 16609143:3 \n-1 7:2 \n")
    assert data.load("webspam").matrix.toarray().tolist() == [[1, 0, 3], [0, 2, 0]]


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("rcv1.train.vw", "1 |a 1:1 |b 2:1\n0 |a 1:1\n", "line 1: expected one namespace"),
        ("rcv1.train.vw", "1 |a 1:1\n0 |a word:1\n", "line 2: expected one namespace"),
        ("rcv1.train.vw", "", "has no rows"),
        ("rcv1_train.binary", "1 1:1\n-1 2:x\n", "somewhere in lines 1 to 2"),
        ("rcv1_train.binary", "1 1:1\n2 2:1\n", "expected two labels, .* not 1, 2"),
        ("rcv1_train.binary", "1 1:1\n1 2:1\n", "expected two labels"),
    ],
)
def test_bad_files(folder: Path, name: str, text: str, match: str) -> None:
    write(folder, name, text)
    write(folder, name.replace("train", "test"), SVMLIGHT if "binary" in name else VOWPAL)
    with pytest.raises(click.ClickException, match=match):
        data.load("rcv1")


def test_a_table_without_its_column(folder: Path) -> None:
    write(folder, "enron-spam.tsv", "label\tbody\n1\tx\n")
    with pytest.raises(click.ClickException, match="has no column 'text'"):
        data.load("spam")


def test_half_an_original_is_an_error(folder: Path) -> None:
    write_stand_ins(folder)
    write(folder, "rcv1.train.vw.gz", VOWPAL)
    with pytest.raises(click.ClickException, match=r"has rcv1\.train\.vw\.gz, but no rcv1\.test\.vw"):
        data.name("rcv1")


def test_half_a_corpus_is_an_error(folder: Path) -> None:
    write_stand_ins(folder)
    write(folder, "trec05p-1/data/000/000", "Subject: hello")
    with pytest.raises(click.ClickException, match=r"trec05p-1 is there, but no full/index in it: unpack"):
        data.name("spam")


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz"])
def test_a_download_that_broke_off_is_named(folder: Path, packed: str) -> None:
    path = write(folder, f"webspam_wc_normalized_trigram.svm{packed}", SVMLIGHT * 100)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(
        click.ClickException, match=rf"trigram\.svm{packed} cannot be decompressed .* download it again"
    ):
        data.load("webspam")
    path.write_text(SVMLIGHT)
    with pytest.raises(
        click.ClickException, match=rf"trigram\.svm{packed} cannot be decompressed .* download it again"
    ):
        data.load("webspam")


def test_all_that_is_missing_is_named(folder: Path) -> None:
    write(folder, "rcv1-ccat.svm.xz", SVMLIGHT)
    write(folder, "enron-spam.tsv.xz", "label\ttext\n")
    with pytest.raises(click.ClickException) as caught:
        data.load("astro")
    lines = caught.value.message.splitlines()
    assert [line.split(":")[0].strip() for line in lines[1:-1]] == ["astro", "webspam"]
    assert "arxiv-astro.tsv" in lines[1]
    assert "docs/paper-data.md" in lines[-1]


@pytest.mark.parametrize("value", [None, "", "/no/such/folder"])
def test_no_folder(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("STEELYARD_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("STEELYARD_DATA", value)
    with pytest.raises(click.ClickException, match="STEELYARD_DATA"):
        data.name("rcv1")


def test_a_file_that_is_not_there(folder: Path) -> None:
    with pytest.raises(click.ClickException, match=r"there is no .*adult\.data\.gz; docs/paper-data.md"):
        data.file_digest(folder / "adult.data.gz")


def test_matrices_are_kept(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "rcv1_train.binary", SVMLIGHT)
    write(folder, "rcv1_test.binary", SVMLIGHT)
    data.keep_in(tmp_path / "prepared")
    data._load.cache_clear()
    first = data.load("rcv1")
    (file,) = (tmp_path / "prepared").iterdir()
    # whatever is read from now on is not what the file says
    monkeypatch.setattr(rows, "MOST_VALUES", 1)
    data._load.cache_clear()
    again = data.load("rcv1")
    assert (again.matrix != first.matrix).nnz == 0
    assert again.matrix.shape == first.matrix.shape
    assert again.labels.tolist() == first.labels.tolist()
    assert again.first_test == first.first_test == 4
    assert again.note == ""
    for damage in (
        file.read_bytes()[:-100],
        b"",
        b"no file of ours",
        file.read_bytes().replace(b"\x3f", b"\x3e"),
    ):
        file.write_bytes(damage)
        data._load.cache_clear()
        monkeypatch.setattr(rows, "MOST_VALUES", 200)
        assert (data.load("rcv1").matrix != first.matrix).nnz == 0
    assert [path.name for path in (tmp_path / "prepared").iterdir()] == [file.name]


def test_other_bytes_are_another_digest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_stand_ins(folder)
    digests = {data.digest(place) for place in data.PLACES}
    assert len(digests) == 4
    assert len(data.digests_asked_for()) == 4
    write(folder, "rcv1-ccat.svm.xz", SVMLIGHT * 2)
    monkeypatch.setattr(data, "_digests", {})
    assert data.digest("rcv1") not in digests


def test_without_an_official_split_a_fifth_is_for_testing() -> None:
    found = data.Data("none", False, None, np.ones(50))
    train, test = found.split(1)
    assert (len(train), len(test)) == (40, 10)
    assert sorted([*train, *test]) == list(range(50))


def test_no_stand_in_has_an_originals_name() -> None:
    for place, forms in FORMS.items():
        originals = {form.name for form in forms if form.original} | {place}
        assert originals.isdisjoint(form.name for form in forms if not form.original)
        assert not forms[-1].original
