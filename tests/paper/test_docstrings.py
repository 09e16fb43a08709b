"""The examples in the docstrings of what all studies have in common."""

import doctest
import importlib
import pkgutil

import pytest

import paper

MODULES = [
    module.name
    for module in pkgutil.walk_packages(paper.__path__, "paper.")
    if not module.name.startswith(("paper.studies", "paper.__main__"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
