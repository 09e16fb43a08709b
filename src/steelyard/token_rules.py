"""What a token is, in one table: kernels, the predictor and the scorer in JavaScript take it from here.

`text` compiles the table into kernels, `predictor` makes regular expressions of it, and `exporting` writes it into
the scorer. `tests/data/tokens.json` has texts with their tokens, to which tests hold all three.

- A text is UTF-8. Capitals are read as small letters.
- A word is a run of bytes of `letters`. Its key is its hash (MurmurHash3), with the hash of the column's name as
  seed; a word made of digits is that number plus the seed.
- The key of a run of words is the hash of the keys of its words, four bytes each, lowest byte first.
- The key of a run of characters is the hash of its bytes, its seed that of words with the bits of
  `character_salt` flipped: so the word `the` and the characters `the` differ. A run of blanks is one space, and
  blanks at the ends of a text do not count.
- A cell of a table is read without the blanks at its ends. A missing one has the key of the word `missing`.
"""

from dataclasses import asdict, dataclass
from typing import Any

Ranges = tuple[tuple[int, int], ...]
"""Bytes, as the first and the last of each range."""

REPEATED = ("counts", "binary", "sublinear", "relative")
"""The value of a token that occurs n times in a text: n, 1, 1 + log n, or 1 + log n divided by the length of the
text, which is the root of the sum of the squares of all values."""


@dataclass(frozen=True)
class TokenRules:
    """One set of rules, and its name."""

    name: str
    letters: Ranges
    capitals: tuple[int, int]
    to_small: int
    """What is added to a capital to make a small letter of it."""
    blanks: Ranges
    character_salt: int
    missing: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def small(self, byte: int) -> int:
        """A byte in lower case."""
        first, last = self.capitals
        return byte + self.to_small if first <= byte <= last else byte


def bytes_in(ranges: Ranges) -> bytes:
    """Each byte of the ranges, in order."""
    return bytes(byte for first, last in ranges for byte in range(first, last + 1))


ASCII = TokenRules(
    name="ascii",
    # digits, letters, and all that is not ASCII, so that words in UTF-8 stay whole; É stays É
    letters=((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), (0x80, 0xFF)),
    capitals=(0x41, 0x5A),
    to_small=0x20,
    blanks=((0x09, 0x0D), (0x20, 0x20)),
    character_salt=0x63686172,
    missing="missing",
)
