"""Ways to choose labels, and to learn from them: `ActiveClassifier` and what it is measured against.

Labels are chosen by the policies of `steelyard.active.strategies`. They are learned in `one pass`, each as it
comes, with the weights 1/P of the paper where there is a P; by a `refit` over several orders; and by
`LinearSVC`, which is given the labels that `refit` chose. "`implicit`, `refit`" is `ActiveClassifier` with no
parameter but its budget; `random` and `margin` learn as it does.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from steelyard.active.labelled import RefitPlan
from steelyard.active.trials import LEARNERS, outcomes
from steelyard.examples import Examples, examples
from steelyard.learner import Learner
from steelyard.model import Model

RANDOM, MARGIN, IMPLICIT = "random", "margin", "implicit"
ONE_PASS, REFIT, SVC = "one pass", "refit", "LinearSVC"
CAPPED, IMPORTANCE = "refit, capped 1/P", "refit, 1/P"
_GUESSED = 50.0  # per cent of errors, of a model that left the range of numbers, as the explicit update can
_SVC_SETTINGS = (0.1, 1.0, 10.0)
_HELD_OUT = 5  # every fifth label chooses among them

Labels = NDArray[np.float64]
Way = tuple[str, str]
"""Who chooses the labels, who learns them."""

WAYS: tuple[Way, ...] = (
    *(
        (asking, learner)
        for asking in (RANDOM, MARGIN, "multiplication", "invariant", IMPLICIT)
        for learner in (ONE_PASS, REFIT, SVC)
    ),
    (IMPLICIT, CAPPED),
    (IMPLICIT, IMPORTANCE),
)
DEFAULT: Way = IMPLICIT, REFIT
_TRAINING = {
    ONE_PASS: LEARNERS["once"],
    REFIT: LEARNERS["refit"],
    CAPPED: RefitPlan("capped"),
    IMPORTANCE: RefitPlan("importance"),
}


@dataclass(frozen=True)
class Selection:
    """Rows to learn, some labels of which may be bought, and rows to test."""

    rows: sparse.csr_matrix
    labels: Labels
    test: sparse.csr_matrix
    truth: Labels
    budget: int
    seed: int

    def errors(self, ways: Sequence[Way] = WAYS) -> Iterator[tuple[Way, float]]:
        """The test errors in per cent. Whoever asks for LinearSVC asks for the refit, too."""
        stream, test = examples(self.rows, self.labels), examples(self.test)
        for asking, learner in ways:
            if learner != SVC:
                training = replace(_TRAINING[learner], seed=self.seed)
                (found,) = outcomes(asking, training, stream, [self.budget])
                yield (asking, learner), self._error(found.model, test)
                if (asking, SVC) in ways and learner == REFIT:
                    yield (asking, SVC), self._wrong(self._svc(np.array(found.rows)))

    def _error(self, model: Model | None, test: Examples) -> float:
        return _GUESSED if model is None else self._wrong(Learner(model=model).predict(test))

    def _wrong(self, predictions: NDArray[np.float64]) -> float:
        return 100.0 * float(np.mean((predictions > 0.0) != (self.truth > 0.0)))

    def _svc(self, bought: NDArray[np.int64]) -> NDArray[np.float64]:
        """On rows of length 1, with the C that does best on a fifth of the labels it has."""
        rows, labels = normalize(self.rows[bought]), self.labels[bought]
        if len(set(labels)) < 2:
            return np.full(self.test.shape[0], labels[0])
        held = np.arange(len(bought)) % _HELD_OUT == 0
        best = 1.0
        if len(set(labels[~held])) == 2:
            scores = [
                self._fitted(c, rows[~held], labels[~held]).score(rows[held], labels[held])
                for c in _SVC_SETTINGS
            ]
            best = _SVC_SETTINGS[int(np.argmax(scores))]
        predictions: NDArray[np.float64] = self._fitted(best, rows, labels).decision_function(
            normalize(self.test)
        )
        return predictions

    def _fitted(self, c: float, rows: sparse.csr_matrix, labels: Labels) -> LinearSVC:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return LinearSVC(C=c, random_state=self.seed).fit(rows, labels)
