"""Where a library reads a file differently from our readers: small files, each with one peculiarity.

Two readers agree on a file if they make the same examples to the last bit: the same rows, features,
values, labels and weights, lines that cannot be read left out. Values are float64 here.
"""

import json
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.parsers_libraries import Library, libraries, ours
from steelyard.examples import Examples
from steelyard.io.blocks import ParsedBlock
from steelyard.io.columns import CATEGORY, LABEL, NUMBER, TEXT, WEIGHT, Column, Columns
from steelyard.io.input_spec import Dialect, InputSpec

SAME = "same"
BITS = 18
_COLUMNS = Columns(
    (Column("y", LABEL), Column("w", WEIGHT), Column("a", NUMBER), Column("c", CATEGORY), Column("t", TEXT))
)
CSV = InputSpec("csv", BITS, dtype="float64", columns=_COLUMNS, dialect=Dialect())
JSON = replace(CSV, format="jsonl", dialect=None)

_HEADER, _ROW = b"y,w,a,c,t\n", b"1,2,0.5,red,some words\n"
_OBJECT = b'{"y": 1, "w": 2, "a": 0.5, "c": "red", "t": "some words"}\n'


@dataclass(frozen=True)
class Probe:
    """A file with something special between ordinary rows."""

    what: str
    spec: InputSpec
    text: bytes


def _csv(what: str, record: bytes, end: bytes = b"\n") -> Probe:
    return Probe(what, CSV, _HEADER + _ROW + record + end + _ROW)


def _json(what: str, line: bytes) -> Probe:
    return Probe(what, JSON, _OBJECT + line + b"\n" + _OBJECT)


CSV_PROBES = (
    _csv("a newline within quotes", b'-1,1,2,red,"two\nlines"'),
    _csv("separators and doubled quotes within quotes", b'-1,1,2,red,"a ""b"", c"'),
    _csv("a quote within a field that is not quoted", b'-1,1,2,red,5" disk'),
    _csv("text after a closing quote (a bad line)", b'-1,1,2,"red"x,word'),
    _csv("CRLF at the ends of lines", b"-1,1,2,red,word", b"\r\n"),
    _csv("blank lines", b"\n  \n-1,1,2,red,word"),
    Probe("a byte order mark, and no newline at the end", CSV, b"\xef\xbb\xbf" + _HEADER + _ROW[:-1]),
    _csv("blanks around cells", b"-1, 1 , 2.5 , red ,word"),
    _csv("missing numbers: NA", b"-1,1,NA,red,word"),
    _csv("missing numbers: ?", b"-1,1,?,red,word"),
    _csv("missing numbers: nan, in small letters", b"-1,1,nan,red,word"),
    _csv("an empty number, category and text", b"-1,1,,,"),
    _csv("a category called NA", b"-1,1,2,NA,word"),
    _csv("no label", b",1,2,red,word"),
    _csv("numbers such as +5, .5 and 5.", b"+1,.5,5.,red,word"),
    _csv("a whole number of 30 digits", b"-1,1,123456789012345678901234567890,red,word"),
    _csv("a number that is infinite (a bad line)", b"-1,1,inf,red,word"),
    _csv("a number that overflows (a bad line)", b"-1,1,1e400,red,word"),
    _csv("a decimal comma (a bad line)", b'-1,1,"0,5",red,word'),
    _csv("a word where a number is due (a bad line)", b"-1,1,abc,red,word"),
    _csv("a word where the label is due (a bad line)", b"spam,1,2,red,word"),
    _csv("a negative weight (a bad line)", b"-1,-1,2,red,word"),
    _csv("too few fields (a bad line)", b"-1,1,2"),
    _csv("too many fields (a bad line)", b"-1,1,2,red,word,more"),
    _csv("bytes that are not UTF-8 (a bad line)", b"-1,1,2,red,caf\xe9"),
    Probe("a quote that is never closed (a bad line)", CSV, _HEADER + _ROW + b'-1,1,2,red,"open\n'),
)

JSON_PROBES = (
    _json("keys in another order", b'{"t": "word", "a": 2, "c": "red", "w": 1, "y": -1}'),
    _json("an absent key, which means no feature", b'{"y": -1, "w": 1, "c": "red", "t": "word"}'),
    _json("an absent weight, which means 1", b'{"y": -1, "a": 2, "c": "red", "t": "word"}'),
    _json("a null number", b'{"y": -1, "w": 1, "a": null, "c": "red", "t": "word"}'),
    _json("NaN", b'{"y": -1, "w": 1, "a": NaN, "c": "red", "t": "word"}'),
    _json("an unknown key", b'{"y": -1, "w": 1, "a": 2, "c": "red", "t": "word", "z": [1, {"b": 2}]}'),
    _json(
        "escapes, a surrogate pair", b'{"y": -1, "w": 1, "a": 2, "c": "caf\\u00e9", "t": "\\ud83d\\ude00"}'
    ),
    _json("half a surrogate pair", b'{"y": -1, "w": 1, "a": 2, "c": "\\ud83d", "t": "word"}'),
    _json("true where a number is due", b'{"y": -1, "w": 1, "a": true, "c": "red", "t": "word"}'),
    _json("a number written as a string", b'{"y": -1, "w": 1, "a": "2.5", "c": "red", "t": "word"}'),
    _json("a number where a category is due", b'{"y": -1, "w": 1, "a": 2, "c": 7.50, "t": "word"}'),
    _json("an object of numbers", b'{"y": -1, "w": 1, "a": {"k": 2}, "c": "red", "t": "word"}'),
    _json("a list of strings", b'{"y": -1, "w": 1, "a": 2, "c": ["red", "big"], "t": "word"}'),
    _json(
        "a whole number of 30 digits",
        b'{"y": -1, "w": 1, "a": 123456789012345678901234567890, "c": "red", "t": "word"}',
    ),
    _json("blank lines", b'\n  \n{"y": -1, "w": 1, "a": 2, "c": "red", "t": "word"}'),
    _json(
        "a key that comes twice (a bad line)", b'{"y": -1, "w": 1, "a": 2, "a": 3, "c": "red", "t": "word"}'
    ),
    _json("a number that overflows (a bad line)", b'{"y": -1, "w": 1, "a": 1e400, "c": "red", "t": "word"}'),
    _json(
        "a word where a number is due (a bad line)", b'{"y": -1, "w": 1, "a": "abc", "c": "red", "t": "word"}'
    ),
    _json("a line cut short (a bad line)", b'{"y": -1, "w": 1, "a": 2, "c": "re'),
    _json("a list instead of an object (a bad line)", b"[1, 2, 3]"),
    _json("a leading zero (a bad line)", b'{"y": -1, "w": 1, "a": 02, "c": "red", "t": "word"}'),
    _json("bytes that are not UTF-8 (a bad line)", b'{"y": -1, "w": 1, "a": 2, "c": "red", "t": "caf\xe9"}'),
)


def numbers(count: int, seed: int = 0) -> list[str]:
    """Random doubles, written in full, and random decimals of up to 40 digits, within 1e±140."""
    random = Random(seed)
    found: list[str] = []
    while len(found) < count:
        (x,) = struct.unpack("d", random.randbytes(8))
        if 1e-140 < abs(x) < 1e140:
            found.append(repr(x))
        digits = str(random.getrandbits(random.randrange(1, 133)) + 1)
        point = random.randrange(len(digits))
        found.append(f"{digits[:point] or '0'}.{digits[point:]}e{random.randrange(-99, 99)}")
    return found[:count]


def number_probe(spec: InputSpec, written: Iterable[str]) -> Probe:
    if spec.format == "csv":
        rows = "".join(f"1,1,{x},red,word\n" for x in written)
        return Probe("numbers", spec, _HEADER + rows.encode())
    rows = "".join(f'{{"y": 1, "w": 1, "a": {x}, "c": "red", "t": "word"}}\n' for x in written)
    return Probe("numbers", spec, rows.encode())


def join(parsed: Iterable[ParsedBlock]) -> Examples:
    """All rows as one chunk."""
    chunks = [each.examples for each in parsed]
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(chunk.indptr) for chunk in chunks)])

    def joined(column: Callable[[Examples], NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(0), *(column(chunk) for chunk in chunks)])

    return Examples(
        np.cumsum(lengths),
        np.concatenate([np.zeros(0, np.int32), *(chunk.indices for chunk in chunks)]),
        np.concatenate([chunk.values for chunk in chunks]) if chunks else np.zeros(0),
        False,
        1 << BITS,
        joined(lambda chunk: chunk.labels),
        joined(lambda chunk: chunk.sample_weight),
        joined(lambda chunk: np.zeros(len(chunk)) if chunk.offsets is None else chunk.offsets),
    )


def difference(a: Examples, b: Examples) -> str:
    """In a word or two what differs in `b`, to the bit; `SAME` if nothing does."""
    if len(a) != len(b):
        return f"{len(b):,} rows, not {len(a):,}"
    for what, x, y in (
        ("labels", a.labels, b.labels),
        ("weights", a.sample_weight, b.sample_weight),
        ("features", a.indptr, b.indptr),
        ("features", a.indices, b.indices),
        ("values", a.values, b.values),
    ):
        if (
            not np.array_equal(np.isnan(x), np.isnan(y))
            or np.nan_to_num(x).tobytes() != np.nan_to_num(y).tobytes()
        ):
            return f"other {what}"
    return SAME


def outcome(library: Library, path: Path, spec: InputSpec, expected: Examples) -> str:
    """What the library makes of a file where we make `expected`."""
    try:
        return difference(expected, join(library.examples(path, spec, 1)))
    except Exception:  # noqa: BLE001 - each library has its own errors, and all of them mean the same here
        return "refuses the file"


def outcomes(probe: Probe, folder: Path) -> dict[str, str]:
    """What each library makes of the file."""
    path = folder / f"probe.{probe.spec.format}"
    path.write_bytes(probe.text)
    expected = join(ours(path, probe.spec, 1))
    return {each.name: outcome(each, path, probe.spec, expected) for each in libraries(probe.spec)}


def wrong_numbers(spec: InputSpec, folder: Path, count: int) -> dict[str, str]:
    """How many of `count` numbers each library, and our reader, reads otherwise than Python."""
    written = numbers(count)
    path = folder / f"numbers.{spec.format}"
    path.write_bytes(number_probe(spec, written).text)
    key = int(join(ours(path, spec, 1)).indices[0])
    right = np.array([float(x) for x in written])

    def wrong(examples: Examples) -> str:
        values = examples.values[examples.indices == key]
        return f"{np.count_nonzero(values != right):,}" if len(values) == count else "rows are lost"

    found = {"ours": wrong(join(ours(path, spec, 1)))}
    for each in libraries(spec):
        try:
            found[each.name] = wrong(join(each.examples(path, spec, 1)))
        except Exception:  # noqa: BLE001 - see above
            found[each.name] = "refuses the file"
    return found


def markdown(probes: Iterable[Probe], folder: Path, count: int) -> str:
    """The table of outcomes for one format."""
    probes = list(probes)
    spec = probes[0].spec
    names = [each.name for each in libraries(spec)]
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for probe in probes:
        found = outcomes(probe, folder)
        lines.append(f"| {probe.what} | {' | '.join(found[name] for name in names)} |")
    found = wrong_numbers(spec, folder, count)
    lines.append(
        f"| {count:,} random numbers: how many are wrong (ours: {found['ours']}) | "
        + " | ".join(found[name] for name in names)
        + " |"
    )
    return "\n".join(lines) + "\n"


def as_object(names: Iterable[str], record: Iterable[str], numeric: set[str]) -> str:
    """A record of a table as a JSON object; numbers stay as they are written, missing ones are null."""
    cells = []
    for name, cell in zip(names, record, strict=True):
        value = ("null" if cell in ("", "NA", "?") else cell) if name in numeric else json.dumps(cell)
        cells.append(f"{json.dumps(name)}: {value}")
    return "{" + ", ".join(cells) + "}\n"
