"""`LineScores`: each line has the answer that it has alone, and bad lines cost no more than good ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from steelyard import losses
from steelyard.examples import Examples
from steelyard.io import formats, inference, sources
from steelyard.io.blocks import Block, LineReader, ParsedBlock
from steelyard.io.errors import InputError
from steelyard.scoring.line_scores import LineScores
from steelyard.scoring.predicting import accept_any_labels
from steelyard.scoring.records import records_of
from steelyard.scoring.scores import Meaning

SAMPLES = {
    "csv": b"text,size,label\nbuy now,1,a\nhello,2,b\nwell,3,a\n",
    "fasttext": b"__label__a buy now\n__label__b hello\n__label__a well\n",
    "jsonl": b'{"text": "buy now", "size": 1, "label": "a"}\n{"text": "hello", "size": 2, "label": "b"}\n',
    "svmlight": b"1 1:1 2:0.5\n-1 3:1 # a comment\n",
    "tsv": b"text\tsize\tlabel\nbuy now\t1\ta\nhello\t2\tb\nwell\t3\ta\n",
    "vw": b"1 |a b c:2\n-1 'tag |d e\n",
}
ODD = (
    b"", b" ", b"\t\r", b"\x0b", b"\x0c ", b"#", b" # comment", b"# \xff", b"\xff", b"1", b"|", b"{}", b"{",
    b"0", b"1 1:x", b"1 |a b:x", b"__label__a", b"nonsense, and more", b'{"size": "x"}', b'{"size": 1}',
    b"\0", b"a,b",
)  # fmt: skip
ALL = [name for name in formats.names() if not formats.by_name(name).binary and name != "excel"]


class Sums:
    """An engine that predicts the sum of a row's values."""

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        return np.array([examples.values[a:b].sum() for a, b in zip(*_ends(examples), strict=True)])


class SummingModel:
    """A model that predicts so."""

    name, engine, meaning = "sums", Sums(), Meaning(losses.by_name("squared"))

    def spec(self) -> Any:
        raise NotImplementedError


def _ends(examples: Examples) -> tuple[list[int], list[int]]:
    return examples.indptr[:-1].tolist(), examples.indptr[1:].tolist()


def spec_of(name: str, folder: Path) -> Any:
    path = folder / f"sample.{name if name != 'fasttext' else 'txt'}"
    path.write_bytes(SAMPLES[name])
    return accept_any_labels(inference.infer([str(path)], None, format_name=name, bits=8)[0]), str(path)


def line_scores(name: str, folder: Path) -> LineScores | None:
    spec = spec_of(name, folder)[0]
    if not isinstance(spec.reader(), LineReader):
        with pytest.raises(InputError, match=f"{spec.format} has no row on each line"):
            LineScores(SummingModel(), spec, print)  # type: ignore[arg-type]
        return None
    return LineScores(SummingModel(), spec, print)  # type: ignore[arg-type]


def block_of(text: bytes) -> Block:
    return Block("request", np.frombuffer(text, np.uint8), len(text))


def answers(scores: LineScores, text: bytes) -> list[object]:
    """The prediction of each line, what is wrong with it, or None."""
    found = scores.score(block_of(text))
    assert len(found.lines) == text.count(b"\n")
    assert [line.row for line in found.lines if line.row is not None] == list(
        range(len(found.parsed.examples))
    )
    return [line.problem if line.row is None else float(found.scores.raw[line.row]) for line in found.lines]


def test_every_format_of_text_is_tried() -> None:
    assert sorted(SAMPLES) == sorted(ALL)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.one_of(st.sampled_from(ODD), st.binary(max_size=12)), min_size=1, max_size=90))
@example(lines=[b"1"] * 200)
@example(lines=list(ODD))
def test_a_line_is_answered_as_it_is_alone(name: str, lines: list[bytes], tmp_path: Path) -> None:
    scores = line_scores(name, tmp_path)
    if scores is None:
        return
    lines = [line.replace(b"\n", b"") for line in lines] + SAMPLES[name].splitlines()
    alone = [answer for line in lines for answer in answers(scores, line + b"\n")]
    assert answers(scores, b"".join(line + b"\n" for line in lines)) == alone


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("bad", [b"1 x:y", b"\xff", b"#", b""])
def test_bad_lines_are_not_searched_for_one_by_one(
    name: str, bad: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small request of bad lines kept the server busy for minutes: it parsed each line twice over."""
    scores = line_scores(name, tmp_path)
    if scores is None:
        return
    usual, parsed_blocks, good = scores.lines.parse, [], SAMPLES[name].splitlines()[0]

    def parse(block: Block) -> ParsedBlock:
        parsed_blocks.append(block)
        return usual(block)

    monkeypatch.setattr(scores.lines, "parse", parse)
    assert len(answers(scores, b"%b\n%b\n" % (bad, good) * 500)) == 1000
    assert len(parsed_blocks) <= 2


@pytest.mark.parametrize("name", ["csv", "jsonl", "tsv"])
def test_records_of_a_table_with_bad_lines_are_not_searched_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, path = spec_of(name, tmp_path)
    records, parsed_blocks = records_of(spec, path), []
    reader = type(spec.reader())
    usual = reader.parse

    def parse(self: Any, block: Block) -> ParsedBlock:
        parsed_blocks.append(block)
        found: ParsedBlock = usual(self, block)
        return found

    monkeypatch.setattr(reader, "parse", parse)
    head, good = (b"", SAMPLES[name].splitlines()[0]) if name == "jsonl" else SAMPLES[name].splitlines()[:2]
    Path(path).write_bytes((head + b"\n" if head else b"") + b"\n%b\n\xff\n" % good * 500)
    made = spec.reader()
    with sources.open_source(path) as source:
        (block,) = made.blocks(source, 1 << 20)
    parsed = made.parse(block)
    assert parsed.skipped == 500
    assert records.read(parsed).tolist() == [True, False] * 500
    assert len(parsed_blocks) == 2
