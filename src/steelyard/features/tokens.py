"""`TextOptions`: how text becomes features. By default: words with their counts.

>>> TextOptions(words=2).as_dict()
{'words': 2, 'characters': None, 'repeated': 'counts'}
>>> TextOptions.from_dict({"words": 0, "characters": [3, 5], "repeated": "binary"})
TextOptions(words=0, characters=(3, 5), repeated='binary')
"""

from dataclasses import dataclass
from typing import Any

from steelyard.text import tokens

REPEATED = {"counts": tokens.COUNTS, "binary": tokens.BINARY, "sublinear": tokens.SUBLINEAR}
MOST = 16  # words or characters in a row


@dataclass(frozen=True)
class TextOptions:
    """Runs of 1 to `words` words, runs of `characters` (least, most) characters, or both.

    A word is a run of letters and digits, in lower case (ASCII only: É stays É). Characters are those of the
    text in lower case, without blanks at its ends and with a run of blanks as one space; a text shorter than
    the least has none. The value of a token is its count in the text, 1 (binary), or 1 + log of the count
    (sublinear).
    """

    words: int = 1
    characters: tuple[int, int] | None = None
    repeated: str = "counts"

    def __post_init__(self) -> None:
        if not 0 <= self.words <= MOST:
            raise ValueError(f"words in a row: from 0 (none) to {MOST}; got {self.words}")
        if self.characters is not None and not 1 <= self.characters[0] <= self.characters[1] <= MOST:
            raise ValueError(f"characters in a row: least and most, from 1 to {MOST}; got {self.characters}")
        if self.words == 0 and self.characters is None:
            raise ValueError("neither words nor characters are wanted: nothing of a text would be learned")
        if self.repeated not in REPEATED:
            raise ValueError(f"repeated tokens: one of {', '.join(REPEATED)}; got {self.repeated!r}")

    def as_dict(self) -> dict[str, Any]:
        characters = None if self.characters is None else list(self.characters)
        return {"words": self.words, "characters": characters, "repeated": self.repeated}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "TextOptions":
        characters = stored["characters"]
        return cls(stored["words"], None if characters is None else tuple(characters), stored["repeated"])

    def array(self) -> tuple[int, int, int, int]:
        """The options for kernels."""
        least, most = self.characters or (0, 0)
        return self.words, least, most, REPEATED[self.repeated]

    def most_tokens(self, size: int) -> int:
        """An upper bound on the number of tokens in a text of this many bytes."""
        least, most = self.characters or (1, 0)
        return (size + 1) // 2 * self.words + size * (most - least + 1)
