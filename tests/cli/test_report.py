"""`report`: one page that is right, needs no network, and lets no cell become markup."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from steelyard.report import BEGINNING
from tests.cli.running import refused, rows, run

HOSTILE = "<script>alert('x')</script>"
VOID = {"meta", "input"}


class Page(HTMLParser):
    """Every tag is closed, in order; nothing is fetched."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counted: dict[str, int] = {}
        self.content = path.read_text(encoding="utf-8")
        self.feed(self.content)
        assert self.open == []
        self.text = re.sub(r"<[^>]+>", "", self.content.partition("</style>")[2])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {"src", "href", "onclick", "onload", "onerror"} & dict(attrs).keys()
        self.counted[tag] = self.counted.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(tmp_path: Path, *arguments: object) -> Page:
    output = tmp_path / "page.html"
    said = run("report", *arguments, "-o", output).stdout
    assert said == f"wrote {output}: a page for your browser\n"
    assert output.read_bytes().startswith(BEGINNING)
    return Page(output)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    path = tmp_path / "rows.csv"
    lines = [f"id,label,weight,{HOSTILE},text"]
    for k in range(300):
        x = random.normal()
        label = HOSTILE if x + random.normal() > 0 else "no"
        text = HOSTILE if k % 2 else "word " * 60
        lines.append(f'"{HOSTILE}{k}","{label}",{k % 3},{x:.4f},"{text}"')
    path.write_text("\n".join(lines) + "\n")
    return path


def test_two_classes(table: Path, tmp_path: Path) -> None:
    run("train", table, "--number", HOSTILE, "--weight", "weight", "--tag", "id", "-o", tmp_path / "m")
    found = page(tmp_path, tmp_path / "m", table)
    assert found.counted["script"] == 2  # the figures of the slider, and the slider
    assert HOSTILE not in found.content
    quality = json.loads(run("evaluate", tmp_path / "m", table, "--json").stdout)
    assert f"{quality['accuracy']:.1%}of the rows are right" in found.text
    assert f"{quality['auc']:.3f}area under the ROC curve" in found.text
    assert "The model was trained on" in found.text
    assert "rows have no label or no weight" in found.text
    assert "What the weights do" in found.text
    assert found.text.count("Compared with an average row") == 10
    assert "The worst mistakes" in found.text
    assert found.counted["svg"] > 5
    counts = json.loads(found.content.split('id="counts">')[1].partition("</script>")[0])
    assert counts["first"] + counts["second"] == pytest.approx(quality["weight"])


def test_a_threshold_of_the_models_own(tmp_path: Path, file: Path) -> None:
    """What the chosen line of the table says is what evaluate says."""
    run("train", file, "-o", tmp_path / "m")
    other = tmp_path / "other.vw"
    other.write_text(rows(300, 8))
    found = page(tmp_path, tmp_path / "m", other)
    chosen = re.search(r'<tr class="chosen">.*?(\d+\.\d)%</td></tr>', found.content)
    assert chosen is not None
    accuracy = json.loads(run("evaluate", tmp_path / "m", other, "--json").stdout)["accuracy"]
    assert float(chosen[1]) == pytest.approx(100.0 * accuracy, abs=0.051)
    assert "The model was trained on" not in found.text
    assert "What the weights do" not in found.text


def test_several_classes(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    random = np.random.default_rng(2)
    codes = random.integers(0, 4, 200)
    lines = (f"{'ab<d'[k]},{k + random.normal():.3f},{random.normal():.3f}\n" for k in codes)
    path.write_text("label,x,z\n" + "".join(lines))
    run("train", path, "-o", tmp_path / "m", "--bits", "8")
    found = page(tmp_path, tmp_path / "m", path)
    assert "<h3>&lt;</h3>" in found.content
    assert "Which threshold?" not in found.text
    assert "Calibration: on the dashed line" in found.text
    assert re.search(r"these put . ahead of", found.text)
    path.write_text("label,x\n" + "".join(f"c{k % 14},{k % 14}\n" for k in range(140)))
    run("train", path, "-o", tmp_path / "m", "--bits", "8", "--loss", "hinge", "--no-calibrate")
    found = page(tmp_path, tmp_path / "m", path)
    assert "one of 14 classes" in found.text
    assert "12 of 14 classes shown" in found.text
    assert "Most frequent confusions" in found.text
    assert "The confusion table of all 14 classes is in the output of steelyard evaluate --json" in found.text


def test_without_probabilities(tmp_path: Path, file: Path) -> None:
    run("train", file, "-o", tmp_path / "m", "--loss", "hinge", "--no-calibrate", "--no-names")
    found = page(tmp_path, tmp_path / "m", file)
    assert "Which threshold?" not in found.text
    assert "with a probability" not in found.text
    assert "trained with --no-names" in found.text
    assert "ROC curve: the share" in found.text


def test_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    random = np.random.default_rng(3)
    x = random.normal(size=100)
    path.write_text("y,x\n" + "".join(f"{3 * v + random.normal():.3f},{v:.3f}\n" for v in x))
    run("train", path, "-o", tmp_path / "m", "--bits", "8")
    found = page(tmp_path, tmp_path / "m", path)
    quality = json.loads(run("evaluate", tmp_path / "m", path, "--json").stdout)
    assert f"{quality['r2']:.3f}R²" in found.text
    assert "Predicted and actual" in found.text
    assert "script" not in found.counted
    path.write_text("y,x\n1,1\n1,2\n")  # no variance
    assert "unknownR²" in page(tmp_path, tmp_path / "m", path).text


def test_one_class_and_an_older_model(tmp_path: Path, file: Path, model: Path) -> None:
    """Without a record of its training, and on rows of one class."""
    from steelyard import model_file

    content = model_file.load(model)
    content.training = None
    model_file.save(model, content)
    one = tmp_path / "one.vw"
    one.write_text("".join(f"{line}\n" for line in file.read_text().splitlines() if line.startswith("1 ")))
    found = page(tmp_path, model, one)
    assert "ROC curve: the share" not in found.text
    assert "undefined" not in found.text
    assert "Every row was first predicted" not in found.text


def test_what_is_skipped_or_differs(tmp_path: Path) -> None:
    path, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    path.write_text("label,x\n" + "a,1\nb,2\na,2\n" * 20)
    run("train", path, "-o", tmp_path / "m", "--bits", "8")
    other.write_text("x,label\n" + "2,a\n1\n1,b\n2,b\n" * 20)
    found = page(tmp_path, tmp_path / "m", other, "--on-error", "skip")
    assert "20 lines could not be read" in found.text
    assert re.search("<dt>x</dt><dd>[12]</dd>", found.content)
    found = page(tmp_path, tmp_path / "m", path, other, "--on-error", "skip")
    assert "<dt>" not in found.content  # two tables, of which no row can be shown
    other.write_text("x,z\n1,2\n2,3\n")
    assert "there is nothing to compare with" in refused(
        "report", tmp_path / "m", other, "-o", tmp_path / "n"
    )


def test_rows_whose_labels_do_not_suit_the_loss(tmp_path: Path) -> None:
    path, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    path.write_text("label,x\n" + "1,1\n-1,2\n1,2\n" * 20)
    run("train", path, "-o", tmp_path / "m", "--bits", "8", "--loss", "logistic")
    other.write_text("label,x\n" + "7,1\n-1,1\n1,2\n" * 20)
    assert "<dt>" not in page(tmp_path, tmp_path / "m", other, "--on-error", "skip").content


def test_the_worst_rows_of_parquet(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    words = ["odd" if k == 77 else "good" if k % 2 else "bad" for k in range(100)]
    labels = ["yes" if word == "good" else "no" for word in words]
    labels[50] = "yes"
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"text": words, "label": labels, "x": [float(k) for k in range(100)]}), path)
    run("train", path, "--ignore", "x", "-o", tmp_path / "m")
    assert "bad" in page(tmp_path, tmp_path / "m", path).text
