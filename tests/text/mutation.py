"""Files made of good ones by small damage, kept where they reach something new."""

import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

SEEDS = Path(__file__).parent / "seeds"
_PIECES = [
    b"|", b":", b" ", b"\t", b"\r", b"\n", b"#", b"'", b"qid:", b"-", b"+", b".", b"e", b"1", b"0", b"nan",
    b"inf", b"1e308", b"1e-400", b"4294967296", b"18446744073709551617", b"\0", b"\xff", b"\xc3\xa9",
    b"\xed\xa0\x80", b"\x0b", b"0" * 30, b"9" * 30, b"|a", b" b:", b"\n\n",
]  # fmt: skip


def seeds(suffix: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(SEEDS.glob(f"*.{suffix}"))]


def mutated(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """A few changes at random places; a text always ends with a newline."""
    text = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 4])):
        at, to = sorted((draw.randrange(len(text) + 1), draw.randrange(len(text) + 1)))
        to = min(to, at + 20)
        match draw.randrange(6):
            case 0:
                text[at:at] = draw.choice(_PIECES)
            case 1:
                del text[at:to]
            case 2:
                text[at:at] = text[at:to]
            case 3:
                text[at : at + 1] = bytes([draw.randrange(256)])
            case 4:
                text[at:to] = draw.choice(_PIECES)
            case _:
                other = draw.choice(others)
                start = draw.randrange(len(other))
                text[at:at] = other[start : start + draw.randrange(40)]
    return bytes(text[:4000]) + b"\n"


class Explorer:
    """Mutates what it has; keeps what runs through a pair of lines that nothing has run through before.

    Lines are seen where kernels are plain Python (NUMBA_DISABLE_JIT=1); else every text is as good.
    """

    def __init__(self, suffix: str, seed: int) -> None:
        self.corpus = seeds(suffix)
        self._draw = random.Random(seed)
        self._seen: set[tuple[str, int, int]] = set()

    def step(self, check: Callable[[bytes], None]) -> None:
        text = mutated(self._draw.choice(self.corpus), self.corpus, self._draw)
        met: set[tuple[str, int, int]] = set()
        last: dict[FrameType, int] = {}

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if "/steelyard/text/" not in frame.f_code.co_filename:
                return None
            if event == "line":
                met.add((frame.f_code.co_filename, last.get(frame, 0), frame.f_lineno))
                last[frame] = frame.f_lineno
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            check(text)
        except Exception as error:
            raise AssertionError(f"with {text!r}") from error
        finally:
            sys.settrace(before)
        if met - self._seen:
            self._seen |= met
            self.corpus.append(text)
