"""Classifiers as they come out of the box: each learns some rows of a problem and is scored on others.

A contender is made for a problem and called with rows to learn, rows to test and a seed; it returns
predictions of the test rows, which are positive for the class 1.
"""

import io
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from benchmarks.support.labelled import Problem
from steelyard import Learner, OnlineClassifier, Settings, losses
from steelyard.examples import examples

Rows = NDArray[np.intp]
Predictions = NDArray[np.float64]
Contender = Callable[[Rows, Rows, int], Predictions]

STEELYARD, VOWPAL, SGD, SVC = "steelyard", "Vowpal Wabbit", "SGDClassifier", "LinearSVC"
LOG_COUNTS, FROM_TEXT = "steelyard, log counts", "steelyard, from the text"
VOWPAL_WORDS = "Vowpal Wabbit, word by word"
OF_TEXTS = (LOG_COUNTS, FROM_TEXT, VOWPAL_WORDS)  # these need the words of a text
SVC_SETTINGS = (0.01, 0.1, 1.0)


def contenders(problem: Problem) -> dict[str, Contender]:
    """Whoever is installed and can learn this problem."""
    makers: dict[str, Callable[[Problem], Contender]] = {
        STEELYARD: steelyard,
        LOG_COUNTS: log_counts,
        FROM_TEXT: from_text,
        VOWPAL: VowpalWabbit,
        VOWPAL_WORDS: VowpalWabbitByWords,
        SGD: sgd,
        SVC: linear_svc,
    }
    if find_spec("vowpalwabbit") is None:
        del makers[VOWPAL], makers[VOWPAL_WORDS]
    return {who: make(problem) for who, make in makers.items() if problem.text or who not in OF_TEXTS}


def steelyard(problem: Problem) -> Contender:
    return lambda train, test, _: _fitted(OnlineClassifier(passes=1, shuffle=False), problem, train, test)


def log_counts(problem: Problem) -> Contender:
    """What `TfidfVectorizer(use_idf=False, sublinear_tf=True)` would have made of the texts."""
    return steelyard(replace(problem, matrix=log_rows(problem)))


def from_text(problem: Problem) -> Contender:
    """What files with texts are learned as: the same, with one unit for all words."""
    matrix = log_rows(problem)

    def learn(train: Rows, test: Rows, _: int) -> Predictions:
        learner = Learner(Settings(losses.by_name("modified_huber")), matrix.shape[1])
        learner.model.fix_units(np.empty(0, np.int64))
        learner.learn(examples(matrix[train], problem.labels[train]))
        return learner.predict(examples(matrix[test], features=matrix.shape[1]))

    return learn


def log_rows(problem: Problem) -> sparse.csr_matrix:
    """1 + log of a count, in rows of length 1."""
    return TfidfTransformer(use_idf=False, sublinear_tf=True).fit_transform(problem.matrix)


def sgd(problem: Problem) -> Contender:
    """scikit-learn's gradient descent, its defaults but for the one pass."""
    return lambda train, test, seed: _fitted(
        SGDClassifier(max_iter=1, tol=None, random_state=seed), problem, train, test
    )


def linear_svc(problem: Problem) -> Contender:
    """The batch solver: many passes, and the best C of three *on the test rows*, which flatters it.

    The order of the rows does not matter to it: a set with test rows of its own is learned once.
    """
    known: dict[int, Predictions] = {}

    def best(train: Rows, test: Rows, seed: int) -> Predictions:
        which = 0 if problem.own_test else seed
        if which not in known:
            tried = [_fitted(LinearSVC(C=c, random_state=0), problem, train, test) for c in SVC_SETTINGS]
            truth = problem.labels[test] > 0.0
            known[which] = max(tried, key=lambda found: float(np.mean((found > 0.0) == truth)))
        return known[which]

    return best


class VowpalWabbit:
    """Vowpal Wabbit's wheel with every option at its default, from files in its own format."""

    def __init__(self, problem: Problem) -> None:
        self.lines = self.lines_of(problem)

    def __call__(self, train: Rows, test: Rows, seed: int) -> Predictions:
        return self.predictions(train, test)

    def lines_of(self, problem: Problem) -> list[bytes]:
        """One a row. Names that are whole numbers are taken for indices, so nothing collides below 2¹⁸."""
        svmlight = io.BytesIO()
        dump_svmlight_file(problem.matrix, problem.labels, svmlight)
        lines = (line.partition(b" ") for line in svmlight.getvalue().splitlines())
        return [label + b" | " + features + b"\n" for label, _, features in lines]

    def predictions(self, train: Rows, test: Rows) -> Predictions:
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


class VowpalWabbitByWords(VowpalWabbit):
    """As it is mostly used: each occurrence of a word is written, and is a feature of its own."""

    def lines_of(self, problem: Problem) -> list[bytes]:
        matrix = problem.matrix
        names = np.char.mod("%d", np.arange(matrix.shape[1]))
        lines = []
        for row, label in enumerate(problem.labels):
            inside = slice(matrix.indptr[row], matrix.indptr[row + 1])
            occurrences = matrix.indices[inside].repeat(matrix.data[inside].astype(np.int64))
            lines.append(f"{label:g} | {' '.join(names[occurrences])}\n".encode())
        return lines


def _fitted(
    classifier: OnlineClassifier | SGDClassifier | LinearSVC, problem: Problem, train: Rows, test: Rows
) -> Predictions:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LinearSVC may stop before it has converged
        classifier.fit(problem.matrix[train], problem.labels[train])
    predictions: Predictions = classifier.decision_function(problem.matrix[test])
    return predictions
