"""Tokens of text, beside a tokeniser made of regular expressions."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.native.declare import PLAIN
from steelyard.text import repeats, tokens
from steelyard.text.tokens import TextOptions
from steelyard.token_rules import ASCII
from tests.support import tables
from tests.support.parts import callable_part

few = settings(deadline=None, max_examples=30 if PLAIN else 100)
tokenise = callable_part(tokens.tokenise)
SEED = tables.murmur(b"t")
options = st.builds(
    TextOptions,
    st.integers(1, 4),
    st.none() | st.tuples(st.integers(1, 3), st.integers(3, 5)),
    st.sampled_from(["counts", "binary", "sublinear", "relative"]),
)


def tokenised(text: str, wanted: TextOptions, bits: int = 22) -> list[tuple[int, float]]:
    data = np.frombuffer(text.encode() + b"\n", np.uint8)
    most = wanted.most_tokens(len(data))
    features = (
        np.empty(most, np.uint32), np.empty(most), np.empty(most, np.int16),
        np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32),
    )  # fmt: skip
    scratch = repeats.scratch_for(most)
    for _ in range(2):  # what it needs may be used again
        with np.errstate(over="ignore"):
            count, differ = tokenise(
                data, 0, len(data) - 1, SEED, np.int16(3), 2, wanted.array(bits), 0, scratch, features
            )
    indices = features[0][:count] & np.uint32((1 << bits) - 1)
    different = len(set(indices.tolist())) == count
    assert different or not differ
    if wanted.repeated != "counts" and 4 * most <= 1 << bits:
        assert differ == different
    assert (features[2][:count] == 3).all()
    return list(zip(features[0][:count].tolist(), features[1][:count].tolist(), strict=True))


@few
@given(
    st.text(st.sampled_from('aB9 0-é\t\n"😀'), max_size=30) | st.text(max_size=20),
    options,
    st.sampled_from([1, 8, 10, 22]),
)
@example(" A  b\t\né a a ", TextOptions(2, (2, 3), "sublinear"), 22)
@example(" A  b\t\né a a ", TextOptions(3, (1, 1), "binary"), 3)
@example("", TextOptions(1, (1, 1)), 22)
@example(" ".join(f"{64 * k}" for k in range(9)), TextOptions(), 6)
def test_tokens_are_those_of_the_twin(text: str, wanted: TextOptions, bits: int) -> None:
    expected = tables.tokens(text, "t", wanted)
    found = tokenised(text, wanted, bits)
    assert [key for key, _ in found] == [key for key, _, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value, _ in expected], rel=1e-14)


@pytest.mark.parametrize("size", range(12))
def test_words_of_every_length(size: int) -> None:
    assert tokenised("Abcdefghijkl"[:size], TextOptions()) == (
        [(tables.murmur(b"abcdefghijkl"[:size], SEED), 1.0)] if size else []
    )


LONG = {
    "beyond a window": "Some words, 12 or 345 of them; " * 36,
    "one letter each": "a " * 300 + "b c D e " * 60,
    "one long word": "x" * 1100 + " Y",
    "words that windows cut": ("ab" * 37 + " é ") * 15,
    "no word for long": " " * 1050 + "end" + "-" * 90,
    "around 16 bytes": " ".join("q" * size + " " + "7" * size for size in range(12, 21)),
}


@pytest.mark.parametrize("ending", ["", "z" * 70])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("wanted", [TextOptions(), TextOptions(3, repeated="sublinear")], ids=["1", "3"])
def test_long_texts_are_cut_into_windows(text: str, ending: str, wanted: TextOptions) -> None:
    text += ending
    expected = tables.tokens(text, "t", wanted)
    found = tokenised(text, wanted)
    assert [key for key, _ in found] == [key for key, _, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value, _ in expected], rel=1e-14)


def test_spans_are_those_of_the_first_occurrence_and_are_left_out_without_names() -> None:
    text = np.frombuffer(b"One two ONE " + b"." * 70, np.uint8)
    keys, values, spans = np.zeros(9, np.uint32), np.zeros(9), np.zeros((3, 9), np.int32)
    for room in (spans, spans[:, :0]):
        features = keys, values, np.zeros(9, np.int16), *room
        with np.errstate(over="ignore"):
            arguments = text, 0, 12, SEED, np.int16(0), 2, TextOptions(2).array(22), 0, repeats.scratch_for(9)
            assert tokenise(*arguments, features) == (4, True)
    assert spans[:2, :4].T.tolist() == [[0, 3], [4, 7], [0, 7], [4, 11]]
    assert spans[2, :4].tolist() == [8 * 2 + tokens.WORDS] * 4


def test_a_number_is_a_number_as_a_word_but_not_as_characters() -> None:
    assert tokenised("007 7", TextOptions(repeated="counts")) == [(SEED + 7, 1.0)] * 2
    assert tokenised("12", TextOptions(0, (2, 2))) == [
        (tables.murmur(b"12", SEED ^ ASCII.character_salt), 1.0)
    ]


@pytest.mark.parametrize(
    "options", [TextOptions(), TextOptions(3), TextOptions(0, (2, 4)), TextOptions(1, (3, 3), "sublinear")]
)
def test_options_survive_json(options: TextOptions) -> None:
    assert TextOptions.from_json(json.loads(json.dumps(options.as_json()))) == options


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"words": -1}, "words in a row: from 0"),
        ({"words": 17}, "words in a row: from 0"),
        ({"characters": (0, 3)}, "characters in a row: least and most"),
        ({"characters": (4, 3)}, "characters in a row"),
        ({"words": 0}, "nothing of a text would be learned"),
        ({"repeated": "often"}, "repeated tokens: one of counts, binary, sublinear, relative; got 'often'"),
    ],
)
def test_options_that_make_no_sense(given: dict[str, object], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        TextOptions(**given)  # type: ignore[arg-type]
