"""The predictor beside the vectors to which the kernels and JavaScript are held, too."""

from typing import Any

import pytest

from steelyard.predictor import Predictor
from steelyard.predictor.tokens import Tokeniser, key, murmur
from tests.predictor.test_schema import TABLE
from tests.support.token_vectors import CELLS, NAMES, TEXTS, keys_and_values, name_of


@pytest.mark.parametrize("vector", NAMES, ids=name_of)
def test_names(vector: dict[str, Any]) -> None:
    assert murmur(vector["name"].encode(), vector["seed"]) == vector["hash"]
    assert key(vector["name"].encode(), vector["seed"]) == vector["key"]


@pytest.mark.parametrize("vector", CELLS, ids=name_of)
def test_cells(vector: dict[str, Any]) -> None:
    columns = {"columns": [{"name": "c", "role": vector["role"]}], "missing": ["NA", "N/A"]}
    predictor = Predictor(TABLE | columns)
    assert predictor._features_of({"c": vector["cell"]}) == [(vector["key"], vector["value"])]


@pytest.mark.parametrize("vector", TEXTS, ids=name_of)
def test_texts(vector: dict[str, Any]) -> None:
    found = list(Tokeniser(**vector["options"]).features(vector["text"].encode(), murmur(b"text", 0)))
    expected = keys_and_values(vector)
    assert [each for each, _ in found] == [each for each, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected], rel=1e-14)


def test_keys_are_remembered_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.predictor.tokens._REMEMBERED", 1)
    tokeniser = Tokeniser(1, None, "counts")
    assert list(tokeniser.features(b"a b a b", 0)) == list(
        Tokeniser(1, None, "counts").features(b"a b a b", 0)
    )
