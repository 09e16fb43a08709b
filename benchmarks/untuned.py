"""Classifiers as they come out of the box: each learns some rows of a problem and is scored on others.

A contender is made for a problem and called with rows to learn, rows to test and a seed; it returns
its accuracy on the test rows.
"""

import io
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from benchmarks.labelled import Problem
from steelyard import OnlineClassifier

Rows = NDArray[np.intp]
Contender = Callable[[Rows, Rows, int], float]

STEELYARD, VOWPAL, SGD, SVC = "steelyard", "Vowpal Wabbit", "SGDClassifier", "LinearSVC"
SVC_SETTINGS = (0.01, 0.1, 1.0)


def contenders() -> dict[str, Callable[[Problem], Contender]]:
    """Whoever is installed."""
    makers: dict[str, Callable[[Problem], Contender]]
    makers = {STEELYARD: steelyard, VOWPAL: VowpalWabbit, SGD: sgd, SVC: linear_svc}
    if find_spec("vowpalwabbit") is None:
        del makers[VOWPAL]
    return makers


def steelyard(problem: Problem) -> Contender:
    return lambda train, test, _: _score(OnlineClassifier(), problem, train, test)


def sgd(problem: Problem) -> Contender:
    """scikit-learn's gradient descent, its defaults but for the one pass."""
    return lambda train, test, seed: _score(
        SGDClassifier(max_iter=1, tol=None, random_state=seed), problem, train, test
    )


def linear_svc(problem: Problem) -> Contender:
    """The batch solver: many passes, and the best C of three *on the test rows*, which flatters it."""

    def best(train: Rows, test: Rows, seed: int) -> float:
        return max(_score(LinearSVC(C=c, random_state=seed), problem, train, test) for c in SVC_SETTINGS)

    return best


class VowpalWabbit:
    """Vowpal Wabbit's wheel with every option at its default, from files in its own format."""

    def __init__(self, problem: Problem) -> None:
        self.labels = problem.labels
        self.lines = _vowpal_lines(problem)

    def __call__(self, train: Rows, test: Rows, seed: int) -> float:
        return float(np.mean((self.predictions(train, test) > 0.0) == (self.labels[test] > 0.0)))

    def predictions(self, train: Rows, test: Rows) -> NDArray[np.float64]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self._run(folder, train, "-f", str(folder / "model"))
            answers = folder / "answers"
            self._run(folder, test, "-t", "-i", str(folder / "model"), "-p", str(answers))
            return np.loadtxt(answers)

    def _run(self, folder: Path, rows: Rows, *options: str) -> None:
        from vowpalwabbit import Workspace

        data = folder / "rows"
        data.write_bytes(b"".join(self.lines[row] for row in rows))
        Workspace(arg_list=["-d", str(data), "--quiet", "--no_stdin", *options]).finish()


def _vowpal_lines(problem: Problem) -> list[bytes]:
    """One a row. Names that are whole numbers are taken for indices, so nothing collides below 2¹⁸."""
    svmlight = io.BytesIO()
    dump_svmlight_file(problem.matrix, problem.labels, svmlight)
    lines = svmlight.getvalue().splitlines()
    return [
        label + b" | " + features + b"\n" for label, _, features in (line.partition(b" ") for line in lines)
    ]


def _score(
    classifier: OnlineClassifier | SGDClassifier | LinearSVC, problem: Problem, train: Rows, test: Rows
) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LinearSVC may stop before it has converged
        classifier.fit(problem.matrix[train], problem.labels[train])
    return float(classifier.score(problem.matrix[test], problem.labels[test]))
