"""Words that decide, found as the readers of tables find them."""

import numpy as np

from steelyard.io import columns as roles
from steelyard.io.blocks import Block
from steelyard.io.columns import Column, Columns
from steelyard.io.input_spec import InputSpec
from steelyard.labelling.explanation import pieces

TEXT = "Größe 12 FREE, free <b>beer</b> Ünder 12a"


def test_words_are_those_of_the_reader() -> None:
    spec = InputSpec("jsonl", 12, columns=Columns((Column("text", roles.TEXT),)))
    block = Block("here", np.frombuffer(f'{{"text": "{TEXT}"}}\n'.encode(), np.uint8), 0)
    row = spec.reader().parse(block).examples
    for index in np.unique(row.indices).tolist():  # each feature alone is one word of the text
        coefficients = np.zeros(1 << 12, np.float32)
        coefficients[index] = 2.0
        marked = {
            text.lower() for text, level in pieces({"text": TEXT}, ["text"], coefficients)["text"] if level
        }
        assert len(marked) == 1


def test_pieces_are_the_text_again() -> None:
    coefficients = np.random.default_rng(0).normal(size=1 << 12)
    found = pieces({"text": TEXT, "title": None, "n": 3}, ["text", "title", "n"], coefficients)
    assert "".join(text for text, _ in found["text"]) == TEXT
    assert found["title"] == []
    assert {abs(level) for _, level in found["text"]} <= {0, 1, 2, 3}
    assert pieces({"text": TEXT}, ["text"], np.zeros(1 << 12))["text"] == [(TEXT, 0)]
    one = np.full(1 << 12, 1.0)
    assert pieces({"text": "a"}, ["text"], -one)["text"] == [("a", -3)]
