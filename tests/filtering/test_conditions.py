"""Conditions on scores."""

import numpy as np
import pytest

from steelyard.filtering.conditions import parse
from steelyard.io.errors import InputError

SCORES = {"p": True, "label": False, "p[a b]": True}
VALUES = {
    "p": np.array([0.1, 0.5, 0.9]),
    "label": np.array(["en", "de", "or"], object),
    "p[a b]": np.array([0.1, 0.2, 0.3]),
}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("p>=0.5", [0, 1, 1]),
        (" p > .5 ", [0, 0, 1]),
        ("p < 5e-1", [1, 0, 0]),
        ("p <= +0.5", [1, 1, 0]),
        ("label == 'en'", [1, 0, 0]),
        ('label = "de"', [0, 1, 0]),
        ("label != en", [0, 1, 1]),
        ("label == 'or'", [0, 0, 1]),
        ("p[a b] == 0.2", [0, 1, 0]),
        ("not p > 0.5 and label == en", [1, 0, 0]),
        ("p > 0.8 or p < 0.2 and label == 'de'", [0, 0, 1]),
        ("(p > 0.8 or p < 0.2) and not (label == or)", [1, 0, 0]),
    ],
)
def test_what_is_kept(text: str, kept: list[int]) -> None:
    assert parse(text, SCORES)(VALUES.__getitem__).astype(int).tolist() == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it ends where a score"),
        ("p", "it ends where a comparison"),
        ("p >=", "it ends where a value"),
        ("q > 1", "there is no score 'q'"),
        ("labl == 'x'", "did you mean"),
        ("0.5 < p", "begins with a score"),
        ("p ( 1", "after p comes one of"),
        ("p => 0.9", "not '=>'; did you mean '>='"),
        ("p=<0.9", "not '=<'; did you mean '<='"),
        ("label <> 'x'", "not '<>'; did you mean '!='"),
        ("p >= high", "p is a number, but 'high' is not"),
        ("label > 'en'", "compared by == or !="),
        ("p > 1 p < 2", "after a whole condition there is still 'p'"),
        ("(p > 1", "is not closed"),
        ("p > 1; import os", "is not a score, number, name or sign"),
        ("__import__('os')", "there is no score '__import__'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        parse(text, SCORES)


def test_names_and_probabilities_that_cannot_be() -> None:
    scores, classes = {"p": True, "m_p": True, "p[spam]": True, "label": False}, {"label": ["ham", "spam"]}
    parse("label == spam and p <= 1 and m_p > 0", scores, classes)
    with pytest.raises(InputError, match="is never 'spamm', but one of ham, spam; did you mean 'spam'"):
        parse("label == 'spamm'", scores, classes)
    for name in ("p", "m_p", "p[spam]"):
        with pytest.raises(InputError, match="is a probability, from 0 to 1, and never 90"):
            parse(f"{name} >= 90", scores, classes)
