"""Ways to choose labels and to learn from them: `ActiveClassifier` and its alternatives.

Labels are chosen by the strategies of `steelyard.active.strategies`. They are learned in `one pass`, each as
it comes, with the weights 1/P of the paper; by a `refit` over several orders; and by `LinearSVC`, which is
given the labels that `refit` chose. "`iwal`, `refit`" is `ActiveClassifier` with no parameter but its budget;
`random` and `margin` learn as it does.
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

from steelyard.active.labelled_rows import RefitPlan
from steelyard.active.strategy_trials import LEARNERS, outcomes
from steelyard.examples import Examples, examples
from steelyard.learner import Learner
from steelyard.model import Model

RANDOM, MARGIN, IWAL = "random", "margin", "iwal"
ONE_PASS, REFIT, SVC = "one pass", "refit", "LinearSVC"
CAPPED, IMPORTANCE = "refit, capped 1/P", "refit, 1/P"
_GUESSED = 50.0  # per cent of errors, for a model that diverged, as the explicit update can
_SVC_SETTINGS = (0.1, 1.0, 10.0)
_HELD_OUT = 5  # every fifth label serves to choose among them

Labels = NDArray[np.float64]
Way = tuple[str, str]
"""Who chooses the labels, who learns them."""

_ASKING = {  # a strategy and an update
    RANDOM: ("random", "implicit"),
    MARGIN: ("margin", "implicit"),
    "iwal, explicit": ("iwal", "explicit"),
    "iwal, invariant": ("iwal", "invariant"),
    IWAL: ("iwal", "implicit"),
}
WAYS: tuple[Way, ...] = (
    *((asking, learner) for asking in _ASKING for learner in (ONE_PASS, REFIT, SVC)),
    (IWAL, CAPPED),
    (IWAL, IMPORTANCE),
)
DEFAULT: Way = IWAL, REFIT
_TRAINING = {
    ONE_PASS: LEARNERS["once"],
    REFIT: LEARNERS["refit"],
    CAPPED: RefitPlan("capped"),
    IMPORTANCE: RefitPlan("importance"),
}


@dataclass(frozen=True)
class Comparison:
    """Rows to learn from, of which some labels may be asked for, and rows to test on."""

    rows: sparse.csr_matrix
    labels: Labels
    test: sparse.csr_matrix
    truth: Labels
    budget: int
    seed: int

    def errors(self, ways: Sequence[Way] = WAYS) -> Iterator[tuple[Way, float]]:
        """The test errors in per cent. LinearSVC needs the refit among the ways, too."""
        stream, test = examples(self.rows, self.labels), examples(self.test)
        for asking, learner in ways:
            if learner != SVC:
                training = replace(_TRAINING[learner], seed=self.seed)
                (found,) = outcomes(*_ASKING[asking], training, stream, [self.budget])
                yield (asking, learner), self._error(found.models, test)
                if (asking, SVC) in ways and learner == REFIT:
                    yield (asking, SVC), self._wrong(self._svc(np.array(found.rows)))

    def _error(self, models: list[Model] | None, test: Examples) -> float:
        return _GUESSED if models is None else self._wrong(Learner(model=models[0]).predict(test))

    def _wrong(self, predictions: NDArray[np.float64]) -> float:
        return 100.0 * float(np.mean((predictions > 0.0) != (self.truth > 0.0)))

    def _svc(self, asked: NDArray[np.int64]) -> NDArray[np.float64]:
        """On rows of length 1, with the C that does best on a fifth of the labels it has."""
        rows, labels = normalize(self.rows[asked]), self.labels[asked]
        if len(set(labels)) < 2:
            return np.full(self.test.shape[0], labels[0])
        held = np.arange(len(asked)) % _HELD_OUT == 0
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
