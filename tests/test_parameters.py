"""Messages that name parameters keep them apart from their text, wherever the messages go."""

import copy
import pickle

import pytest

from steelyard._parameters import Message, Parameter, joined, message_of
from steelyard.io.errors import InputError, Problem

MESSAGE = Message(
    "give ", Parameter("labels", "a,b"), ", ", Parameter("bits", 18), " or ", Parameter("names")
)


def name_alone(parameter: Parameter) -> str:
    return parameter.name.upper()


def test_as_a_string_it_speaks_of_parameters_as_python_does() -> None:
    assert MESSAGE == "give labels='a,b', bits=18 or `names`"
    assert f"{MESSAGE}!" == "give labels='a,b', bits=18 or `names`!"
    assert str(Parameter("classes", True, in_python="OnlineClassifier")) == "OnlineClassifier"


def test_it_can_be_worded_differently() -> None:
    assert MESSAGE.worded(name_alone) == "give LABELS, BITS or NAMES"


def test_a_message_within_another_keeps_its_parameters() -> None:
    assert Message("a.csv: ", MESSAGE, ".").worded(name_alone) == "a.csv: give LABELS, BITS or NAMES."
    listed = joined("; ", [MESSAGE, Parameter("seed"), "or not"])
    assert listed.worded(name_alone) == "give LABELS, BITS or NAMES; SEED; or not"
    assert joined("; ", []) == ""
    assert Message("(", *listed, ")").worded(name_alone) == f"({listed.worded(name_alone)})"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_processes_may_pass_it_on(protocol: int) -> None:
    for again in (pickle.loads(pickle.dumps(MESSAGE, protocol)), copy.deepcopy(MESSAGE)):
        assert again == MESSAGE
        assert again.parts == MESSAGE.parts
    error = pickle.loads(pickle.dumps(InputError("a.csv: ", MESSAGE), protocol))
    assert type(error) is InputError
    assert message_of(error).worded(name_alone) == "a.csv: give LABELS, BITS or NAMES"


def test_errors_carry_it() -> None:
    first = InputError(MESSAGE)
    assert str(first) == MESSAGE
    again = type(first)("a.csv: ", message_of(first))
    assert str(again) == f"a.csv: {MESSAGE}"
    assert message_of(again).worded(name_alone) == "a.csv: give LABELS, BITS or NAMES"
    assert message_of(ValueError(MESSAGE)).worded(name_alone) == "give LABELS, BITS or NAMES"


def test_errors_without_parameters_are_text() -> None:
    for error, said in ((KeyError("x"), "'x'"), (ValueError(), ""), (OSError(2, "gone"), "[Errno 2] gone")):
        assert message_of(error).parts == (said,)
    wrong = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd")
    assert message_of(wrong).parts == (str(wrong),)


def test_a_problem_says_where_it_is() -> None:
    problem = Problem("a.csv", 3, Message("see ", Parameter("encoding")))
    assert str(problem) == "a.csv, line 3: see `encoding`"
    assert problem.message.worded(name_alone) == "a.csv, line 3: see ENCODING"
