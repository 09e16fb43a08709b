"""The two sides of the question, and what is held out."""

from collections import Counter
from pathlib import Path

import pytest

from steelyard.cli.demonstration import packages, question
from steelyard.cli.demonstration.packages import Package
from steelyard.io.errors import InputError
from tests.cli.demonstration import tree


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> list[Package]:
    return tree.found(tmp_path_factory.mktemp("installation"))


def test_half_is_from_the_package(installed: list[Package]) -> None:
    asked = question.asked(installed, None, seed=1)
    count = Counter(package for package, _ in asked.learned + asked.held_out)
    assert asked.package == "sklearn"
    assert count["sklearn"] == count["other"] + count["python"] == tree.FILES * tree.IN_A_FILE
    assert asked.packages == 3


def test_the_same_for_the_same_seed_only(installed: list[Package]) -> None:
    first, again, other = (question.asked(installed, None, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.learned != other.learned


def test_no_docstring_comes_twice(installed: list[Package]) -> None:
    asked = question.asked([*installed, Package("twin", installed[0].files)], None, seed=1)
    texts = [text for _, text in asked.learned + asked.held_out]
    assert len(texts) == len(set(texts))


def test_what_is_held_out_is_from_other_files(installed: list[Package]) -> None:
    asked = question.asked(installed, None, seed=1)
    (ours,) = (package for package in installed if package.name == "sklearn")
    learned, held_out = ({text for _, text in rows} for rows in (asked.learned, asked.held_out))
    for file in ours.files:
        source = " ".join(file.read_text(encoding="utf-8").split())
        assert not (any(text in source for text in learned) and any(text in source for text in held_out))


def test_a_file_gives_no_more_than_its_part(tmp_path: Path, installed: list[Package]) -> None:
    lines = (f"def f{k}(): '''one two three number{k}'''" for k in range(1000))
    (tmp_path / "a.py").write_text("\n".join(lines))
    packed = Package("packed", (tmp_path / "a.py",))
    with pytest.raises(InputError, match=f"too few docstrings to learn from: {question.MOST_OF_A_FILE} of"):
        question.asked([packed, *installed], "packed", seed=1)


def test_there_is_a_most(installed: list[Package]) -> None:
    asked = question.asked(installed, None, seed=1, most=60)
    assert len(asked.learned) + len(asked.held_out) == 120


def test_another_package_can_be_asked_for(installed: list[Package]) -> None:
    assert question.asked(installed, "other", seed=1).package == "other"
    with pytest.raises(InputError, match="there is no package 'nothing'; there are other, python, sklearn"):
        question.asked(installed, "nothing", seed=1)


def test_without_the_favourite_the_largest(installed: list[Package]) -> None:
    few = [package for package in installed if package.name != "sklearn"]
    small = Package("small", few[0].files[:3])
    assert question.asked([small, *few], None, seed=1).package == "other"


def test_the_standard_library_alone_has_nothing_to_compare_with(installed: list[Package]) -> None:
    alone = [package for package in installed if package.name == packages.STANDARD_LIBRARY]
    with pytest.raises(InputError, match="too few docstrings to learn from: 0 of python"):
        question.asked(alone, None, seed=1)
