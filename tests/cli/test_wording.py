"""The same message speaks of options on the command line and of parameters in Python."""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import steelyard
from steelyard import DistributedClassifier, OnlineClassifier, OnlineRegressor, Sweep
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
        and node.func.id in ("Parameter", "bare")
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(named) > 20
    value: dict[str, Any] = {"skip_errors": True}
    known = options() | {'"of":', '"largest"'}  # keys of a line for `active ask`
    value |= {"of": "current"}
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


HUGE = "label,a\n" + "ham,1e5\nspam,-3e5\n" * 30
EXPLICIT = {"update": "explicit", "scaling": "plain", "learning_rate": 1e30, "loss": "modified_huber"}

# content, parameters of the estimator, options of reading, what the command says, and Python
SETTINGS_REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    (TABLE, {"early_stopping": True, "passes": 5}, {}, "say --holdout 10 and --passes 20", "held out: holdout=10, say"),
    (TABLE, {"initial_t": 0.0}, {}, "--initial-t must be a finite", "initial_t must be a finite"),
    (TABLE, {"power_t": -1.0}, {}, "--power-t must be a finite", "power_t must be a finite"),
    (TABLE, {"l1": -1.0}, {}, "--l1 must be a finite", "l1 must be a finite"),
    (TABLE, {"learning_rate": "auto", "power_t": 0.5}, {}, "--learning-rate auto tries several decays itself: leave "
     "--power-t at 0", "learning_rate='auto' tries several decays itself: leave power_t at 0"),
    (TABLE, {"average": 3, "scaling": "plain"}, {}, "--average 3 cannot go with --scaling plain: averages need "
     "--scaling standardized; set --average 0", "average=3 cannot go with scaling='plain': averages need "
     "scaling='standardized'; set average=0"),
    (TABLE, {"class_weight": {"a": 3.0}}, {}, "--class-weight has 'a', which", "class_weight has 'a', which"),
    (HUGE, EXPLICIT, {}, "or use --update invariant, which", "or use update='invariant', which"),
    (TABLE, {}, {"label": "income"}, "--label: there is no column", "label: there is no column"),
    (TABLE, {}, {"weight": "99"}, "--weight: there is no column", "weight: there is no column"),
    (TABLE, {}, {"offset": "no"}, "--offset: there is no column", "offset: there is no column"),
    (TABLE, {}, {"propensity": "no"}, "--propensity: there is no", "propensity: there is no"),
    (TABLE, {}, {"count": "no", "positives": "a"}, "--count: there is no", "count: there is no"),
    (TABLE, {}, {"count": "a", "positives": "no"}, "--positives: there is no", "positives: there is no"),
    (TABLE, {}, {"label": "a", "tag": "a"}, "be both --label and --tag", "be both label and tag"),
    (TABLE, {}, {"interactions": "b*x"}, "--interactions: there is no", "interactions: there is no"),
    (TABLE, {}, {"interactions": "label*a"}, "--interactions: 'label' is not a", "interactions: 'label' is not a"),
    (TABLE, {}, {"labels": "ham"}, "--labels 'ham': give two", "labels 'ham': give two"),
    (TABLE, {}, {"labels": "ham,ham"}, "--labels ham,ham: give each", "labels ham,ham: give each"),
]  # fmt: skip
IN_PYTHON = re.compile(r"(?<![\w-])[a-z]+=[^=]|(?<![\w-])(?!modified_huber)[a-z]\w*_\w")


def typed_words(given: dict[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        yield "--" + name.replace("_", "-")
        if isinstance(value, dict):
            yield ",".join(f"{key}={number}" for key, number in value.items())
        elif value is not True:
            yield str(value)


@pytest.mark.parametrize(("content", "parameters", "given", "typed", "in_python"), SETTINGS_REFUSED)
def test_settings_on_both_surfaces(
    content: str,
    parameters: dict[str, Any],
    given: dict[str, Any],
    typed: str,
    in_python: str,
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content)
    shown = run("train", path, *typed_words(parameters | given), "--bits", "8", code=1).stderr
    said = shown.rpartition("Error: ")[2]
    assert typed in said
    assert not IN_PYTHON.search(said)
    estimator = OnlineClassifier(**parameters)
    with pytest.raises((ValueError, FloatingPointError), match=re.escape(in_python)) as error:
        estimator.fit_files(path, bits=8, **given)
    assert not OPTION.search(str(error.value))


ASK = ("active", "ask", "--classes", "a,b")

# what is typed, standard input, what is said
TYPED: list[tuple[tuple[str, ...], str, str]] = [
    ((*ASK, "--budget", "5"), "", "give --expected, or --rate instead"),
    (ASK, "", "a --budget of labels, a --rate such as 0.05, or --c0;"),
    ((*ASK, "--c0", "0"), "", "--c0 must be a positive number"),
    ((*ASK, "--c0", "1", "--strategy", "margin"), "", "--c0 is for the strategy 'iwal': give 'margin' a "
     "--budget or a --rate"),
    ((*ASK, "--rate", "0.1", "--strategy", "margin"), '{"estimate": "error"}\n', "give --audit 0.01 or so"),
    ((*ASK, "--rate", "0.1"), '{"estimate": "loss"}\n', 'give \\"largest\\", and'),
    ((*ASK, "--rate", "0.1"), '{"estimate": "error", "largest": 3}\n', '\\"largest\\": 3'),
    (("active", "label", "FILE", "--classes", "ham"), "", "--classes ham: two or more"),
    (("active", "label", "FILE", "--text", "body"), "", "--text: there is no column"),
    (("active", "label", "FILE", "--twice", "2"), "", "--twice"),
    (("sweep", "FILE", "--average", "3", "--scaling", "plain,adaptive"), "", "--average 3 cannot go with"),
    (("sweep", "FILE", "--select", "held_out_loss"), "", "for it: --holdout 10"),
    (("train", "FILE", "--tau", "0.3"), "", "has no --tau; it has no parameters; it belongs to --loss quantile"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "lines", "said"), TYPED)
def test_what_is_typed_is_what_is_said(
    arguments: tuple[str, ...], lines: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(TABLE)
    words = [path if word == "FILE" else word for word in arguments]
    shown = CliRunner().invoke(main, list(map(str, words)), input=lines).output
    assert said in shown
    told = shown[shown.index(said) :] if "held_out_loss" in arguments else shown
    assert not IN_PYTHON.search(told.replace(str(path), ""))


def test_filters_name_options(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.jsonl", tmp_path / "m"
    rows.write_text('{"label": "a", "text": "x y"}\n{"label": "b", "text": "z"}\n' * 9)
    run("train", rows, "--bits", "8", "-o", model)
    given = ("filter", model, rows, "-o", tmp_path / "kept")
    both = run(*given, "--keep", "p>0.5", "--fraction", "0.5", code=1).stderr
    assert "--keep and --fraction both say" in both
    assert "give --keep or --fraction" in run(*given, "--rejects", tmp_path / "no", code=1).stderr
    run(*given)
    assert "(--keep: not given, now p>0.5)" in run(*given, "--keep", "p>0.5", code=1).stderr


def test_python_says_where_a_parameter_belongs(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(TABLE)
    distributed, sweep = DistributedClassifier(), Sweep(OnlineClassifier(), {"l2": [0.0, 1.0]})
    for estimator in (OnlineClassifier(), distributed, sweep):
        with pytest.raises(TypeError, match=re.escape("of the constructor: OnlineClassifier(passes=3)")):
            estimator.fit_files(path, passes=3)
    with pytest.raises(TypeError, match=re.escape("of the constructor: Sweep(holdout=3)")):
        sweep.fit_files(path, holdout=3)
    with pytest.raises(TypeError, match="'holdot' for reading files; did you mean 'holdout'"):
        OnlineClassifier().fit_files(path, holdot=3)
    with pytest.raises(ValueError, match="held out: holdout=10, say"):
        OnlineClassifier(early_stopping=True).fit_files(path)


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
