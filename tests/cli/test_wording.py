"""The same message speaks of options on the command line and of parameters in Python."""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import steelyard
from steelyard import OnlineClassifier, OnlineRegressor
from steelyard._parameters import Message, Parameter
from steelyard.cli import main
from steelyard.cli.wording import as_option, error_text, in_options
from steelyard.io.errors import InputError
from tests.cli.running import run

ROOT = Path(steelyard.__file__).parent
ABOVE = {"cli", "demo"}  # rooms that know the command line
OPTION = re.compile(r"(?<![\w-])(--[a-z{]|-q\b)")


def sources() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(ROOT.rglob("*.py")):
        room = path.relative_to(ROOT)
        if room.parts[0] not in ABOVE:
            yield str(room), ast.parse(path.read_text(encoding="utf-8"))


def texts(tree: ast.AST) -> Iterator[str]:
    """All strings, docstrings and f-strings, with {…} for what an f-string fills in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def options() -> set[str]:
    found: set[str] = set()
    groups: list[Any] = [main]
    while groups:
        command = groups.pop()
        found.update(name for each in command.params for name in (*each.opts, *each.secondary_opts))
        if isinstance(command, click.Group):
            context = click.Context(command)
            groups += [command.get_command(context, name) for name in command.list_commands(context)]
    return found


def test_no_text_below_the_command_line_names_an_option() -> None:
    found = [(room, text) for room, tree in sources() for text in texts(tree) if OPTION.search(text)]
    assert found == [], "name a Parameter instead, which each surface words in its own way"


@pytest.mark.parametrize(
    "code", ["'use --bits'", "f'--{name}: no'", "'''With `--json`.'''", "'write -q ab'", "f'x {y} --label'"]
)
def test_the_search_finds_options(code: str) -> None:
    assert [text for text in texts(ast.parse(code)) if OPTION.search(text)]


@pytest.mark.parametrize("code", ["'a--b'", "'python -m x'", "f'{a}-{b}'", "'-quick'", "'a -- b'"])
def test_the_search_finds_nothing_else(code: str) -> None:
    assert not [text for text in texts(ast.parse(code)) if OPTION.search(text)]


def test_every_parameter_of_a_message_is_an_option() -> None:
    named = {
        str(node.args[0].value)
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Parameter"
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(named) > 20
    value = {"skip_errors": True}
    known = options()
    assert not [name for name in named if as_option(Parameter(name, value.get(name))).split()[0] not in known]


@pytest.mark.parametrize(
    ("parameter", "typed", "in_python"),
    [
        (Parameter("on_error", "skip"), "--on-error skip", "on_error='skip'"),
        (Parameter("bits"), "--bits", "`bits`"),
        (Parameter("bits", 18), "--bits 18", "bits=18"),
        (Parameter("shuffle", True), "--shuffle", "shuffle=True"),
        (Parameter("calibrate", False), "--no-calibrate", "calibrate=False"),
        (Parameter("labels", "*,NAME"), "--labels '*,NAME'", "labels='*,NAME'"),
        (Parameter("quadratic", "ab"), "-q ab", "quadratic='ab'"),
        (Parameter("skip_errors", True), "--on-error skip", "skip_errors=True"),
        (Parameter("skip_errors", False), "--on-error stop", "skip_errors=False"),
        (Parameter("audit_size", 400), "--audit 400", "audit_size=400"),
        (Parameter("engine", "local:x"), "--cluster local:x", "engine='local:x'"),
        (Parameter("numbers", True, in_python="OnlineRegressor"), "--numbers", "OnlineRegressor"),
    ],
)
def test_a_parameter_is_an_option(parameter: Parameter, typed: str, in_python: str) -> None:
    assert as_option(parameter) == typed
    assert str(parameter) == in_python
    message = Message("a.csv: ", parameter, "?")
    assert in_options(message) == error_text(InputError(message)) == f"a.csv: {typed}?"


def test_other_texts_stay() -> None:
    assert in_options("`bits`") == error_text(ValueError("`bits`")) == "`bits`"


TABLE = "label,a,b\n" + "ham,1,2\nspam,3,4\n" * 9
SORTED = "label,a,b\n" + "ham,1,2\n" * 9
NUMBERED = "label,a,b\n" + "".join(f"{row % 7 + 0.5},{row},1\n" for row in range(40))
VW = "1 |x a\n-1 |x b\n" * 9

# content, name of the file, options, what the command says, and Python
REFUSED: list[tuple[str, str, dict[str, Any], str, str]] = [
    (SORTED, "a.csv", {}, "--labels a,b,c names them all", "labels='a,b,c' names them all"),
    (SORTED, "a.csv", {}, "random order, too: --shuffle", "random order, too: shuffle=True"),
    (NUMBERED, "a.csv", {"classes": True}, "use --numbers", "use OnlineRegressor"),
    (TABLE, "a.csv", {"numbers": True}, "use --classes", "use OnlineClassifier"),
    (TABLE + "eggs,1,1\n", "a.csv", {"labels": "ham,spam"}, "--labels a,b,c names all", "labels='a,b,c' names"),
    (TABLE + "eggs,1,1\n", "a.csv", {"labels": "ham,spam"}, "(--on-error skip leaves", "(on_error='skip' leaves"),
    (TABLE, "a.csv", {"ngram": "2"}, "--ngram is for the namespaces of vw", "`ngram` is for the namespaces of vw"),
    (TABLE, "a.csv", {"ngram": "2"}, "use --words for columns", "use `words` for columns"),
    (TABLE, "a.csv", {"quadratic": "ab"}, "write -q 'one*other' with", "write quadratic='one*other' with"),
    (TABLE, "a.csv", {"weight": "a", "propensity": "b"}, "--weight and --propensity cannot", "`weight` and `prop"),
    (TABLE, "a.csv", {"count": "a"}, "--count and --positives belong", "`count` and `positives` belong"),
    (VW, "a.vw", {"label": "y"}, "--label is for tables", "`label` is for tables"),
    (VW, "a.vw", {"labels": "a,b"}, "--labels a,b: the labels", "labels='a,b': the labels"),
    (VW, "a.vw", {"skips": "1"}, "--skips leaves out words of n-grams: give --ngram 2", "`skips` leaves out words of "
     "n-grams: give ngram=2"),
    (VW, "a.vw", {"ngram": "99"}, "--ngram 99 with --skips 0: 1 to", "ngram=99 with skips=0: 1 to"),
    (VW, "a.vw", {"keep": "y"}, "--keep: no row has a namespace", "`keep`: no row has a namespace"),
    (VW, "a.vw", {"quadratic": "a"}, "-q a: give the first", "quadratic='a': give the first"),
    (VW, "a.vw", {"interactions": "x*z"}, "--interactions: no row", "`interactions`: no row"),
    (TABLE, "a.csv", {"encoding": "no-such"}, "--encoding no-such: there is", "encoding='no-such': there is"),
    ("label,é\nham,1\n", "a.csv", {"encoding": "latin-1"}, "say --encoding utf-8", "say encoding='utf-8'"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "name", "given", "typed", "in_python"), REFUSED)
def test_errors_on_both_surfaces(
    content: str, name: str, given: dict[str, Any], typed: str, in_python: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    words = [
        word
        for name, value in given.items()
        for word in (f"--{name}", *([value] if isinstance(value, str) else []))
    ]
    shown = run("train", path, *words, "--bits", "8", code=1).stderr
    assert typed in shown
    assert "`" not in shown
    own = {name: value for name, value in given.items() if name not in ("classes", "numbers")}
    estimator = OnlineRegressor() if "numbers" in given else OnlineClassifier()
    with pytest.raises(ValueError, match=re.escape(in_python)) as error:
        estimator.fit_files(path, bits=8, **own)
    assert not OPTION.search(str(error.value))


def test_lines_that_are_skipped_on_both_surfaces(tmp_path: Path) -> None:
    path, model = tmp_path / "rows.vw", tmp_path / "m"
    path.write_text(VW + "1 2\n")
    said = "there is no | in this line; is it Vowpal Wabbit text? (when training, {} says what it is)"
    shown = run("train", path, "--bits", "8", "--on-error", "skip", "-o", model)
    assert said.format("--format") in shown.output
    with pytest.raises(ValueError, match=re.escape(said.format("`format`"))):
        OnlineClassifier.load(model).predict_files(path)
    assert said.format("--format") in run("predict", model, path, "--on-error", "skip").stderr
    assert said.format("--format") in run("predict", model, path, "--stream").stderr


def test_notes_on_both_surfaces(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text("label\ttext\n" + "".join(f"{label}\tx\n" for label in ("a", "b", "a,b", "c") * 3))
    assert "have it: --label COLUMN" in run("train", path, "--bits", "8").stderr
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        OnlineClassifier().fit_files(path, bits=8)
    assert [each for each in caught if str(each.message).endswith("have it: label='COLUMN'")]


def test_a_model_without_probabilities(tmp_path: Path) -> None:
    path, model, numbers = tmp_path / "rows.vw", tmp_path / "m", tmp_path / "n"
    path.write_text(VW)
    run("train", path, "--bits", "8", "--loss", "hinge", "--no-calibrate", "-o", model)
    assert (
        "train it again without --no-calibrate"
        in run("predict", model, path, "--as", "probability", code=1).stderr
    )
    run("train", path, "--bits", "8", "--numbers", "-o", numbers)
    for kind in ("label", "probability"):
        assert "is a number, --as raw" in run("predict", numbers, path, "--as", kind, code=1).stderr
