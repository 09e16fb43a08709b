"""Vowpal Wabbit's wheel, in this process: from text, from its cache, and through its scikit-learn wrapper.

Constructing a workspace with a data file learns that file. The same on an empty file is its
start-up, which is timed in the same round and subtracted. It parses in a thread of its own.
"""

from importlib.util import find_spec
from pathlib import Path

from benchmarks.support.generate import DataSet
from benchmarks.support.timing import Contender, Stopwatch, clocked

TEXT, CACHE, WRAPPER = "Vowpal Wabbit, text", "Vowpal Wabbit, cache", "Vowpal Wabbit, scikit-learn wrapper"


def installed() -> bool:
    return find_spec("vowpalwabbit") is not None


def write_text(data: DataSet, path: Path) -> Path:
    """The rows in Vowpal Wabbit's format; whole numbers as names are taken for indices."""
    indptr, indices, values = data.rows.indptr.tolist(), data.rows.indices.tolist(), data.rows.data.tolist()
    with path.open("w") as file:
        for start, end, label in zip(indptr[:-1], indptr[1:], data.labels.tolist(), strict=True):
            pairs = zip(indices[start:end], values[start:end], strict=True)
            file.write(f"{label:g} | " + " ".join(["%d:%.6g" % pair for pair in pairs]) + "\n")  # noqa: UP031
    return path


def options(loss: str, rate: float) -> list[str]:
    """Plain scaling, the invariant update, a constant rate, no clipping: what our plain kernel does.

    Its squared loss has no ½: half the rate makes the same step.
    """
    rate = rate / 2.0 if loss == "squared" else rate
    return [
        "--invariant", "--power_t", "0", "-l", str(rate), "--loss_function", loss, "-b", "18",
        "--min_prediction", "-100", "--max_prediction", "100", "--quiet", "--no_stdin",
    ]  # fmt: skip


def contenders(data: DataSet, loss: str, rate: float, folder: Path) -> list[Contender]:
    """From text and from its cache; both files lie in `folder`. None where it is not installed."""
    if not installed():
        return []
    text = write_text(data, folder / f"{data.name}.txt")
    cached = ["--cache_file", str(folder / f"{data.name}.cache")]
    _learn(CACHE, [*options(loss, rate), "-d", str(text), *cached])  # writes the cache, which later runs find
    return [learning(TEXT, text, loss, rate, []), learning(CACHE, text, loss, rate, cached)]


def learning(name: str, text: Path, loss: str, rate: float, more: list[str]) -> Contender:
    """A file, without the start-up."""
    empty = text.with_name("empty.txt")
    empty.touch()
    arguments = options(loss, rate)

    def both() -> dict[str, float]:
        started = _learn(name, [*arguments, "-d", str(empty)])
        learned = _learn(name, [*arguments, "-d", str(text), *more])
        return {key: max(learned[key] - started[key], 1e-9) for key in learned}

    return both


def wrapper(data: DataSet, loss: str, rate: float) -> Contender | None:
    """Its scikit-learn estimators: they write every row as text, then learn it. None if not installed."""
    if not installed():
        return None
    from vowpalwabbit.sklearn import VWClassifier, VWRegressor

    kind, step = (VWRegressor, rate / 2.0) if loss == "squared" else (VWClassifier, rate)
    settings = {
        "loss_function": loss, "invariant": True, "power_t": 0, "learning_rate": step, "bit_precision": 18,
        "min_prediction": -100, "max_prediction": 100, "quiet": True,
    }  # fmt: skip

    def fit() -> None:
        kind(**settings).fit(data.rows, data.labels)

    return clocked(WRAPPER, fit)


def average_loss(text: Path, loss: str, rate: float) -> float:
    """Its progressive loss: to see that it learns what we learn."""
    from vowpalwabbit import Workspace

    workspace = Workspace(arg_list=[*options(loss, rate), "-d", str(text)])
    average = float(workspace.get_sum_loss()) / float(workspace.get_weighted_examples())
    workspace.finish()
    return average


def _learn(name: str, arguments: list[str]) -> dict[str, float]:
    from vowpalwabbit import Workspace

    watch = Stopwatch()
    workspace = Workspace(arg_list=arguments)
    times = watch.times(name)
    workspace.finish()
    return times
