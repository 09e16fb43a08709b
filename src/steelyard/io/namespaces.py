"""`NamespaceOptions`: what is made of the namespaces of Vowpal Wabbit's text, each named by its first letter.

>>> NamespaceOptions(quadratic=("ab", ":a")).interactions()
Interactions(fields=('a', 'b', ':'), crosses=((0, 1), (0, 0), (0, 2)))
>>> [f"{mask:b}" for mask in gram_masks(3, skips=1)]
['11', '101', '111', '1011', '1101']
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._messages import did_you_mean
from steelyard._parameters import Parameter
from steelyard.features import MOST_FIELDS, HashedRows, Interactions
from steelyard.io import sources
from steelyard.io.errors import InputError
from steelyard.text import namespaces

EVERY = ":"  # in place of a letter
_MOST_WORDS = 8  # of an n-gram
_MOST_SPAN = 30  # from its first word to its last: a bit each
_MOST_LISTED = 10
_CHUNK = 1 << 20
_LONGEST_NAME = 1 << 10
_NAMED = re.compile(rb"\|([^\s:|]+)")


@dataclass(frozen=True)
class NamespaceOptions:
    """`ngram` and `skips`: a number for all, or with a letter before it, as in `a2`; the last word counts.

    `ignore` and `keep` are letters; `quadratic` has two letters or more for each interaction, `:` for every
    one.
    """

    ngram: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    quadratic: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        words, gaps = _numbers("ngram", self.ngram), _numbers("skips", self.skips)
        if self.skips and not self.ngram:
            raise InputError(
                Parameter("skips"), " leaves out words of n-grams: give ", Parameter("ngram", 2), ", say"
            )
        for letter in (*words, *gaps):
            most, skipped = _for_letter(words, letter, 1), _for_letter(gaps, letter, 0)
            if not 1 <= most <= _MOST_WORDS or most - 1 + skipped > _MOST_SPAN:
                raise InputError(
                    Parameter("ngram", most), " with ", Parameter("skips", skipped), f": 1 to {_MOST_WORDS} "
                    f"words, of which the last is at most {_MOST_SPAN} behind the first",
                )  # fmt: skip
        for letters in self.quadratic:
            if not 2 <= len(letters.encode()) <= MOST_FIELDS:
                raise InputError(
                    Parameter("quadratic", letters), f": give the first letters of 2 to {MOST_FIELDS} "
                    "namespaces, as in ", Parameter("quadratic", "ab"), ", or : for every one; whole names are "
                    "written ", Parameter("quadratic", "user*item"),
                )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        return {name: list(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "NamespaceOptions":
        return cls(**{name: tuple(value) for name, value in stored.items()})

    def interactions(self) -> Interactions:
        """A field for each letter, and `:` for all the others, if there is one."""
        given = "".join(self.quadratic)
        fields = [*dict.fromkeys(given.replace(EVERY, "")), *([EVERY] if EVERY in given else [])]
        every = range(len(fields))
        crosses: dict[tuple[int, ...], None] = {}
        for letters in self.quadratic:
            choices = [every if letter == EVERY else [fields.index(letter)] for letter in letters]
            crosses.update(dict.fromkeys(tuple(sorted(chosen)) for chosen in product(*choices)))
        return Interactions(tuple(fields), tuple(crosses))

    def wanted(self) -> Iterator[tuple[str, str]]:
        """Parameter and letter, for each letter that some row should have."""
        for name in ("ngram", "skips"):
            yield from ((name, letter) for letter in _numbers(name, getattr(self, name)) if letter)
        for name in ("ignore", "keep", "quadratic"):
            letters = dict.fromkeys("".join(getattr(self, name)))
            yield from ((name, letter) for letter in letters if letter != EVERY or name != "quadratic")


class NamespaceExpansion:
    """Options as the tables of a kernel, which is applied to one block after another, on any thread."""

    def __init__(self, options: NamespaceOptions) -> None:
        words, gaps = _numbers("ngram", options.ngram), _numbers("skips", options.skips)
        masks = [
            gram_masks(_for_letter(words, letter, 1), _for_letter(gaps, letter, 0))
            for letter in map(chr, range(256))
        ]
        self._gram_ends = np.cumsum([len(each) for each in masks])
        self._grams = np.array([mask for each in masks for mask in each], np.int64)
        self._dropped = np.full(256, bool(options.keep))
        self._dropped[_codes(options.keep)] = False
        self._dropped[_codes(options.ignore)] = True
        self._fields = np.full(256, namespaces.AS_READ, np.int16)
        if options.quadratic:
            fields = options.interactions().fields
            self._fields[:] = fields.index(EVERY) if EVERY in fields else -1
            for place, letter in enumerate(fields):
                self._fields[_codes([letter])] = place if letter != EVERY else self._fields[ord(EVERY)]

    def __call__(self, text: NDArray[np.uint8], hashed: HashedRows) -> HashedRows:
        letters = np.empty(len(hashed.keys), np.uint8)
        namespaces.first_letters(text, hashed.starts, letters)
        tables = namespaces.Tables(letters, self._dropped, self._fields, self._gram_ends, self._grams)
        given = hashed.ends, hashed.features, tables, np.empty(256, np.int64), np.empty(256, np.int64)
        dtype = hashed.values.dtype.name
        count = namespaces.expand(*given, hashed.ends, HashedRows.empty(0, 0, dtype).features)
        new = HashedRows.empty(len(hashed.ends), count, dtype)
        if count:
            namespaces.expand(*given, new.ends, new.features)
        else:
            new.ends[:] = 0
        return replace(
            new,
            labels=hashed.labels,
            sample_weight=hashed.sample_weight,
            offsets=hashed.offsets,
            tags=hashed.tags,
        )


def gram_masks(most: int, skips: int) -> list[int]:
    """All n-grams of 2 to `most` words with up to so many words skipped in between, as bits."""
    found = []
    for words in range(2, most + 1):
        for gaps in product(range(skips + 1), repeat=words - 1):
            if sum(gaps) <= skips:
                places = np.cumsum([0, *(gap + 1 for gap in gaps)]).tolist()
                found.append(sum(1 << place for place in places))
    return found


def check_present(wanted: Iterable[tuple[str, str]], names: Sequence[str], paths: Sequence[str]) -> None:
    """Refuse letters, and whole names in interactions, that no row of the files has: they would do nothing.

    Files are searched until each is found, in most cases in the first lines. Pipes are not: they can be read
    once only.
    """
    searched = {("interactions", name): _pattern(name, rb"(?=[\s:|])") for name in names}
    for parameter, letter in wanted:
        blank = letter == chr(namespaces.NAMELESS)
        searched[parameter, letter] = re.compile(rb"\|(?=[\s:|])") if blank else _pattern(letter, b"")
    seen: dict[str, None] = {}
    if not searched or any(map(sources.once_only, paths)):
        return
    for text in _texts(paths):
        searched = {what: pattern for what, pattern in searched.items() if not pattern.search(text)}
        if not searched:
            return
        seen.update(dict.fromkeys(name.decode("utf-8", "replace") for name in _NAMED.findall(text)))
    (parameter, name), *_ = searched
    some = ", ".join([*seen][:_MOST_LISTED]) + (", …" if len(seen) > _MOST_LISTED else "")
    there = f" (there are {some})" if seen else ""
    if parameter == "interactions":
        hint = did_you_mean(name, seen)
        said = f": no row has a namespace {name!r}, so nothing would be crossed{hint}{there}"
    else:
        said = f": no row has a namespace that begins with {name!r}{there}; namespaces are named by their "
        said += "first letters here, one letter for each"
    raise InputError(Parameter(parameter), said)


def _pattern(name: str, behind: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\|" + re.escape(name.encode()) + behind)


def _texts(paths: Sequence[str]) -> Iterator[bytes]:
    """The files in pieces that overlap, so that every name is whole in one of them."""
    for path in paths:
        with sources.open_source(path) as source:
            rest = b""
            while part := source.read(_CHUNK):
                yield rest + part
                rest = part[-_LONGEST_NAME:]


def _codes(letters: Iterable[str]) -> list[int]:
    """The first bytes that these letters stand for."""
    return [letter.encode()[0] for letter in "".join(letters)]


def _numbers(name: str, given: Sequence[str]) -> dict[str, int]:
    """The number for each letter; under the empty one, for all others."""
    found = {}
    for text in given:
        letter, number = (text[:1], text[1:]) if not text[:1].isdigit() else ("", text)
        if not number.isdigit():
            said = ": give a number, or the first letter of a namespace and a number: a2"
            raise InputError(Parameter(name, text), said)
        found[letter] = int(number)
    return found


def _for_letter(numbers: dict[str, int], letter: str, otherwise: int) -> int:
    return numbers.get(letter, numbers.get("", otherwise))
