"""The report says what was found, shows it, and every number of it lies in a CSV file."""

import csv
import importlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from paper import data
from paper.command import command
from paper.report.markup import remove_marks
from paper.report.sparks import draw_spark
from paper.study import Claim, Pair, Part, ReportTable, Scope, Study, Tables, Verdict
from tests.paper.made_up import MadeUp, claims
from tests.paper.originals import SVMLIGHT, write, write_stand_ins

VOID = {"meta", "br", "img", "wbr"}
STUDIES = (MadeUp("first", "The first & best", of_paper=True), MadeUp("second", "The second"))


class Page(HTMLParser):
    """Tags that match, ids, links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [str(given["id"])] if "id" in given else []
        self.links += [str(given["href"])] if tag == "a" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def written(folder: Path, *options: str, studies: tuple[Study, ...] = STUDIES) -> str:
    found = CliRunner().invoke(command(studies), ["--output", str(folder), *options], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return (folder / "report.html").read_text(encoding="utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report")
    written(path)
    return path


@pytest.fixture
def text(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_is_sound_and_its_links_lead_somewhere(folder: Path, text: str) -> None:
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert page.open == []
    for target in page.links:
        if target.startswith("#"):
            assert target[1:] in page.ids
        elif not target.startswith("https://"):
            assert (folder / target).is_file(), target
    for used in re.findall(r"url\(#([^)]+)\)|xlink:href=\"#([^\"]+)\"", text):
        assert "".join(used) in page.ids


def test_it_needs_no_other_file(text: str) -> None:
    assert not re.search(r"<(script|link|img|iframe)\b|@import|src=|url\((?!#)", text)
    assert text.count("<svg ") == 2 + 1 + 2  # the figures, a spark, and the key to it
    assert "<metadata>" not in text


def test_sections_are_in_order_and_in_the_contents(text: str) -> None:
    headings = re.findall(r'<h2 id="([^"]+)"', text)
    assert headings == ["verdicts", "first", "ours", "second", "run"]
    contents = text[text.index("<nav>") : text.index("</nav>")]
    assert re.findall(r'href="#([^"]+)"', contents) == headings[1:]
    assert "1. The first &amp; best" in contents


def test_every_claim_has_its_row_the_papers_by_number(folder: Path, text: str) -> None:
    found = rows(folder / "tables/claims.csv")
    theirs, ours = reversed(claims("first", numbered=True)), claims("second")
    assert [(row["claim"], row["study"], row["where"]) for row in found] == [
        *((f"C{claim.number}", "first", claim.where) for claim in theirs),
        *(("ours", "second", claim.where) for claim in ours),
    ]
    assert found[3] == {
        "claim": "C4",
        "study": "first",
        "where": "Table 4",
        "says": "The invariant update is robust.",
        "paper": "0.24",
        "ours": "0.31",
        "cases": "3 for, 1 against",
        "verdict": "holds",
        "why": "",
        "source": "tables/first.csv",
    }
    listed = [(f"claim-c{claim.number}", "first", claim) for claim in claims("first", numbered=True)]
    listed += [(f"own-{number}", "second", claim) for number, claim in enumerate(ours, start=1)]
    for name, study, claim in listed:
        row = re.search(rf'<tr id="{name}" .*?>(.*?)</tr>', text, re.DOTALL)
        assert row is not None
        said = Page(f"<p>{row[1]}</p>").text
        texts = (claim.where, claim.says, remove_marks(claim.ours), claim.verdict.value, claim.why)
        assert all(what in said for what in texts)
        assert claim.paper in said
        assert f'href="#{study}"' in row[1]
        assert f'href="tables/{study}.csv"' in row[1]
    score = re.sub(
        r"\s+",
        " ",
        Page(
            text[text.index('<p class="score">') : text.index('<div class="wide"><table class="verdicts')]
        ).text,
    )
    assert "Of 4 claims of the paper 1 hold, 1 are mixed, 1 contradicted, 1 undecided." in score


def test_a_spark_tells_its_numbers(text: str) -> None:
    spark = text[text.index('<svg class="spark" role="img"') :]
    spark = spark[: spark.index("</svg>")]
    assert 'aria-label="rcv1: paper 2, here 4; web: paper 0.5, here 0; 3 for, 1 against"' in spark
    assert spark.count("<circle") == 4
    assert re.findall(r'<rect class="(\w+)"', spark) == ["agree", "against"]


def test_differences_have_their_mark_at_0() -> None:
    pairs = (Pair("a", -1.0, 1.0), Pair("b", 0.0, 0.0))
    claim = Claim("", "", "", "", Verdict.HOLDS, "", "", 1, None, pairs)
    assert str(draw_spark(claim)).count('cx="87.0"') == 2  # both of b, in the middle
    same = draw_spark(replace(claim, pairs=(Pair("a", 1.0, 1.0),)))
    assert "nan" not in same


def test_tables_are_files_as_they_are_shown(folder: Path, text: str) -> None:
    shown = rows(folder / "tables/shown/first-1.csv")
    assert shown[0] == {"key": "a", "largest y": "97.995", "other": "0.5 ± 0.1"}
    body = text[text.index("Table 1.1.") : text.index("The rows behind this section")]
    for row in shown:
        assert f'<td class="number">{row["largest y"]}</td>' in body
    assert "<b>0.5</b> ± 0.1" in body
    largest = max(float(row["y"]) for row in rows(folder / "tables/first.csv") if row["key"] == "a")
    assert f"{largest:.3f}" == shown[0]["largest y"]


def test_the_text_is_a_file_too(folder: Path) -> None:
    found = rows(folder / "tables/shown/text.csv")
    assert found[1] == {
        "study": "second",
        "paragraph": "1",
        "text": "Of 60 rows none is real; a < b & c, see the verdicts.",
        "tables": "tables/second.csv",
    }


def test_figures_are_files(folder: Path, text: str) -> None:
    for name in ("first_sine", "second_sine"):
        drawn = (folder / f"figures/{name}.svg").read_text()
        assert drawn.startswith("<?xml")
        assert "<title>The sine of x, &lt;raised&gt;, in units of y.</title>" in drawn
        assert (folder / f"figures/{name}.pdf").read_bytes().startswith(b"%PDF")
    assert text.count("<title>") == 1
    assert "<b>Figure 1.1.</b> The sine of <code>x</code>, &lt;raised&gt;, in units of <i>y</i>." in text
    assert "<b>Figure 2.1.</b>" in text


def test_the_end_tells_how_it_came_about(folder: Path, text: str) -> None:
    end = text[text.index('<h2 id="run"') :]
    times = rows(folder / "tables/shown/run-times.csv")
    assert [row["seeds"] for row in times] == ["1, 2", "1, 2", ""]
    assert times[-1]["steps"] == "6"
    steps = rows(folder / "tables/steps.csv")
    assert f"{sum(float(row['seconds']) for row in steps):.1f}" == times[-1]["seconds"]
    versions = {row["what"]: row["which"] for row in rows(folder / "tables/shown/versions.csv")}
    assert {"steelyard", "Python", "numpy", "numba", "scikit-learn", "processor", "threads"} <= set(versions)
    assert "python -m paper" in end
    said = Page(end[: end.index("</body>")]).text
    assert all(value in said for value in versions.values())


def test_the_same_rows_give_the_same_page(folder: Path, text: str) -> None:
    def files() -> dict[Path, bytes]:
        kinds = ("*.csv", "*.svg", "*.pdf")
        return {path: path.read_bytes() for kind in kinds for path in folder.rglob(kind)}

    before = files()
    undated = re.compile("Written .* UTC")
    assert undated.sub("", written(folder)) == undated.sub("", text)
    assert files() == before


def test_quick_and_partial_reports_say_so(tmp_path: Path, text: str) -> None:
    assert "quick run" not in text
    assert "Only some studies" not in text
    assert "notice" not in text[text.index("<body>") :]
    quick = written(tmp_path, "--quick")
    assert "<b>This is a quick run.</b>" in quick
    assert "Only some studies" not in quick
    assert (tmp_path / "figures/second_sine.svg").exists()
    (tmp_path / "tables/mine.csv").write_text("not the report's")
    partial = written(tmp_path, "--quick", "--only", "first")
    assert "Only some studies were run" in partial
    assert "Not in this report: The second." in partial
    # what is no part of this report is gone, but not the steps, and nothing that is not the report's
    assert not (tmp_path / "figures/second_sine.svg").exists()
    assert not (tmp_path / "tables/second.csv").exists()
    assert (tmp_path / "tables/mine.csv").exists()
    assert (tmp_path / "steps/second/a.csv").exists()
    written(tmp_path, "--quick")
    assert (tmp_path / "figures/second_sine.svg").exists()


class DependsOnData(MadeUp):
    """It names the data it depends on."""

    def steps(self, scope: Scope) -> list:  # type: ignore[type-arg]
        digests = {"rcv1": data.digest("rcv1"), "other": data.file_digest(data.folder() / "other.csv.gz")}
        return [replace(step, inputs={**step.inputs, **digests}) for step in super().steps(scope)]


def test_data_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(data, "_kept", [])
    monkeypatch.setattr(data, "_digests", {})
    monkeypatch.setattr(data, "_asked", set())
    write_stand_ins(tmp_path / "data")
    write(tmp_path / "data", "other.csv.gz", "a\n1\n2\n")
    text = written(tmp_path / "out", studies=(DependsOnData("first"),))
    (row,) = rows(tmp_path / "out/tables/shown/data.csv")
    assert row["SHA-256"] == data.file_digest(tmp_path / "data/rcv1-ccat.svm.xz")
    assert [row[name] for name in ("in the paper", "here", "kind", "rows", "features", "taken", "file")] == [
        "rcv1",
        "rcv1-ccat",
        "stand-in",
        "4",
        "4",
        "all",
        "rcv1-ccat.svm.xz",
    ]
    (other,) = rows(tmp_path / "out/tables/shown/other-data.csv")
    assert (other["file"], other["lines"]) == ("other.csv.gz", "3")
    assert row["SHA-256"] in text
    assert "Data: <b>rcv1-ccat</b> stands in for rcv1; more" in text.replace("&#x27;", "'")
    assert str(tmp_path / "data") not in text
    write(tmp_path / "data", "rcv1_train.binary", SVMLIGHT)
    write(tmp_path / "data", "rcv1_test.binary", SVMLIGHT)
    text = written(tmp_path / "out", studies=(DependsOnData("first"),))
    assert "<b>rcv1</b> is the paper's rcv1; more" in text.replace("&#x27;", "'")


def test_the_study_of_the_guide_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (Path(__file__).parents[2] / "docs/paper.md").read_text(encoding="utf-8")
    (tmp_path / "study_of_the_guide.py").write_text(guide.split("```python\n")[1].split("```")[0])
    write_stand_ins(tmp_path / "data")
    monkeypatch.setenv("STEELYARD_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(data, "_kept", [])
    monkeypatch.setattr(data, "_digests", {})
    monkeypatch.setattr(data, "_asked", set())
    monkeypatch.syspath_prepend(tmp_path)
    study = importlib.import_module("study_of_the_guide").Sizes()
    text = written(tmp_path / "out", studies=(study,))
    assert [row["rows"] for row in rows(tmp_path / "out/tables/sizes.csv")] == ["4", "2", "2", "2"]
    assert "4 rows" in text


class Wrong(MadeUp):
    def part(self, tables: Tables, scope: Scope) -> Part:
        part = super().part(tables, scope)
        claim = Claim("Table 1", "It is so.", "–", "no", Verdict.FAILS, "", "nowhere", 7)
        ragged = ReportTable(("a", "b"), [["1"]], "Ragged.", "first")
        return Part([*part.blocks, part.blocks[1], ragged, "See [there](#there)."], [claim, claim])


def test_a_report_that_leads_nowhere_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the report cannot be written") as caught:
        written(tmp_path, studies=(Wrong("first"),))
    said = str(caught.value)
    assert "is based on table 'nowhere', which does not exist" in said
    assert "gives no reason" in said
    assert "rows that do not match its header" in said
    assert "a link leads to #there" in said
    assert "2 figures are named 'first_sine'" in said
    assert "2 claims have the number C7" in said
    assert not (tmp_path / "report.html").exists()
    with pytest.raises(ValueError, match="this name is reserved for the report"):
        written(tmp_path, studies=(MadeUp("run"),))
