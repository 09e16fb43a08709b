"""What can be said about text, and what cannot."""

import json

import pytest

from steelyard.features.tokens import TextOptions


@pytest.mark.parametrize(
    "options", [TextOptions(), TextOptions(3), TextOptions(0, (2, 4)), TextOptions(1, (3, 3), "sublinear")]
)
def test_options_survive_json(options: TextOptions) -> None:
    assert TextOptions.from_dict(json.loads(json.dumps(options.as_dict()))) == options


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"words": -1}, "words in a row: from 0"),
        ({"words": 17}, "words in a row: from 0"),
        ({"characters": (0, 3)}, "characters in a row: least and most"),
        ({"characters": (4, 3)}, "characters in a row"),
        ({"words": 0}, "nothing of a text would be learned"),
        ({"repeated": "often"}, "repeated tokens: one of counts, binary, sublinear; got 'often'"),
    ],
)
def test_options_that_make_no_sense(given: dict[str, object], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        TextOptions(**given)  # type: ignore[arg-type]
