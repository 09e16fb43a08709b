"""`predict_lines`: each line has the answer that it has alone, and bad lines cost no more than good ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from steelyard.engine.file_predictions import accept_any_labels, predict_lines
from steelyard.examples import Examples
from steelyard.io import formats, inference, sources
from steelyard.io.blocks import Block, LineReader, ParsedBlock
from steelyard.io.table_records import records_of

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


def _ends(examples: Examples) -> tuple[list[int], list[int]]:
    return examples.indptr[:-1].tolist(), examples.indptr[1:].tolist()


def spec_of(name: str, folder: Path) -> Any:
    path = folder / f"sample.{name if name != 'fasttext' else 'txt'}"
    path.write_bytes(SAMPLES[name])
    return accept_any_labels(inference.infer([str(path)], None, format_name=name, bits=8)[0]), str(path)


def line_reader(name: str, folder: Path) -> LineReader | None:
    found = spec_of(name, folder)[0].reader()
    return found if isinstance(found, LineReader) else None


def block_of(text: bytes) -> Block:
    return Block("request", np.frombuffer(text, np.uint8), len(text))


def answers(reader: Any, text: bytes) -> list[object]:
    """Of each line, its prediction, what is wrong, or None."""
    found = predict_lines(reader, Sums(), block_of(text))  # type: ignore[arg-type]
    assert len(found.lines) == text.count(b"\n")
    assert sorted(row for row in found.rows if isinstance(row, int)) == list(
        range(len(found.parsed.examples))
    )
    return [float(found.predictions[row]) if isinstance(row, int) else row for row in found.rows]


def test_every_format_of_text_is_tried() -> None:
    assert sorted(SAMPLES) == sorted(ALL)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.one_of(st.sampled_from(ODD), st.binary(max_size=12)), min_size=1, max_size=90))
@example(lines=[b"1"] * 200)
@example(lines=list(ODD))
def test_a_line_is_answered_as_it_is_alone(name: str, lines: list[bytes], tmp_path: Path) -> None:
    reader = line_reader(name, tmp_path)
    if reader is None:
        return
    lines = [line.replace(b"\n", b"") for line in lines] + SAMPLES[name].splitlines()
    alone = [answer for line in lines for answer in answers(reader, line + b"\n")]
    assert answers(reader, b"".join(line + b"\n" for line in lines)) == alone


class Counting:
    """A reader that counts how often it parses, and how many bytes."""

    def __init__(self, reader: LineReader) -> None:
        self._reader, self.is_blank = reader, reader.is_blank
        self.blocks = 0

    def parse(self, block: Block) -> ParsedBlock:
        self.blocks += 1
        return self._reader.parse(block)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("bad", [b"1 x:y", b"\xff", b"#", b""])
def test_bad_lines_are_not_searched_for_one_by_one(name: str, bad: bytes, tmp_path: Path) -> None:
    """A small request of bad lines kept the server busy for minutes: it parsed each line twice over."""
    reader = line_reader(name, tmp_path)
    if reader is None:
        return
    counting, good = Counting(reader), SAMPLES[name].splitlines()[0]
    assert len(answers(counting, b"%b\n%b\n" % (bad, good) * 500)) == 1000
    assert counting.blocks <= 2


@pytest.mark.parametrize("name", ["csv", "jsonl", "tsv"])
def test_records_of_a_table_with_bad_lines_are_not_searched_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, path = spec_of(name, tmp_path)
    records, parsed_blocks = records_of(spec, [path]), []
    assert records is not None
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
