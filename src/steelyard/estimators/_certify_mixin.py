"""`CertifyMixin`: an attempt to certify the present model of an `ActiveClassifier`."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.active.certificates import ALPHA
from steelyard.active.certification import CLAIMS, Certification
from steelyard.active.learner import ActiveLearner
from steelyard.engine import probabilities
from steelyard.estimators._active_questions import fingerprint
from steelyard.examples import Examples


class CertifyMixin:
    """For classifiers that ask from a pool."""

    learner_: ActiveLearner
    pool_: Examples | None
    classes_: NDArray[Any]
    positive_: Any
    random_state: int
    _order: NDArray[np.int64]

    def certify(
        self,
        measure: str,
        target: float,
        *,
        label: Callable[[int], Any] | None = None,
        alpha: float = ALPHA,
        most: int | None = None,
    ) -> Certification:
        """Try to certify the present model on the rows of the pool that have no answer: docs/certify.md.

        Parameters
        ----------
        measure : {"error", "precision"}
            The claim: the error is below the target, or precision is at least the target.
        target : float
            Between 0 and 1.
        label : callable, optional
            Gives the class of a row of the pool, None if nobody knows it; it is called until the test has
            passed or the attempt is over. Without it, use the result's `ask_next()` and `answer(row, label)`.
        alpha : float, default=0.05
            The risk of a wrong certificate, for all attempts with this classifier or journal together.
        most : int, optional
            After so many labels the attempt is given up.

        Returns
        -------
        Certification
            `passed`, and `save(path)` writes the certificate.
        """
        if self.pool_ is None:
            raise ValueError("a certificate is about the rows of a pool: call pool(X) first")
        if measure not in CLAIMS:
            raise ValueError(f"certificates are of {' or '.join(CLAIMS)}, not of {measure!r}")
        learner = self.learner_
        with learner.lock:
            model, history = learner.model, learner.history()
            numbers = np.flatnonzero(~np.isnan(history.label))
            codes = probabilities.decide(model.settings.loss, learner.predict(self.pool_))
            among = np.setdiff1d(np.arange(len(self.pool_)), self._order[numbers])
            if measure == "precision":
                among = among[(self.classes_ == self.positive_)[codes[among]]]
            digest = hashlib.sha256(model.coefficients().tobytes() + np.float64(model.bias).tobytes())
            about = {
                "positive": self.positive_, "model": digest.hexdigest(),
                "pool_checksum": fingerprint(self.pool_),
            }  # fmt: skip
            attempt = Certification(
                measure, target, self.classes_.tolist(), self.classes_[codes].tolist(), among,
                alpha=alpha, most=most, attempt=learner.journal.count_attempts() + 1, seed=self.random_state,
                about=about,
            )  # fmt: skip
            learner.journal.add_attempt()
        while label is not None and (row := attempt.ask_next()) is not None:
            attempt.answer(row, label(row))
        return attempt
