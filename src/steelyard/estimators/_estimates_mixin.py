"""What an `ActiveClassifier` knows of itself: its counts, its history, how good it is."""

from sklearn.exceptions import NotFittedError

from steelyard.active.engine import Engine
from steelyard.active.estimates import LEVEL, Estimate
from steelyard.active.evaluation import Appraisal
from steelyard.active.journal import History
from steelyard.active.stopping import Rule, Verdict
from steelyard.model import Model


class Standing:
    """All of it comes from the engine, and so from the journal."""

    engine_: Engine
    _appraisal: Appraisal

    def estimate(
        self,
        measure: str = "error",
        of: str = "current",
        *,
        level: float = LEVEL,
        largest: float | None = None,
    ) -> Estimate:
        """How good is it? A figure, and an interval that holds at every moment, so look whenever you like.

        `measure` is error, precision or recall (of the second of `classes_`), or loss, of which those above
        `largest` count as that. `of` is

        - `"current"`: the model held now, as it was at 20 answers or whenever there were a fifth more since
          then. No row is scored by a model that learned it: each label by a model learned without it and a
          tenth of the others; with an `audit`, its labels alone, by the model itself.
        - `"progressive"`: the models so far on average, each row scored before it was learned.
        - `"pool"`: the pool (of a stream: the rows so far) with the answers there are, and predictions
          made before elsewhere.
        """
        return self._appraised().estimate(measure, of, level, largest)

    def should_stop(self, rule: Rule, *, level: float = LEVEL, largest: float | None = None) -> Verdict:
        """May I stop? A rule of `steelyard.active.stopping` judged by the estimate it needs.

        The verdict is true or false, and has a sentence that says `why`.
        """
        return self._appraised().judge(rule, level, largest)

    @property
    def model_(self) -> Model:
        """The model, refitted on all answers."""
        return self._engine("model_").model

    @property
    def n_seen_(self) -> int:
        """Rows considered so far."""
        return self._engine("n_seen_").seen

    @property
    def n_asked_(self) -> int:
        """Questions so far."""
        return self._engine("n_asked_").asked

    @property
    def n_answered_(self) -> int:
        return self._engine("n_answered_").answered

    @property
    def n_skipped_(self) -> int:
        """Questions that nobody could answer."""
        return self._engine("n_skipped_").skipped

    @property
    def open_questions_(self) -> list[int]:
        """The ids of questions that wait for an answer."""
        return self._engine("open_questions_").open

    @property
    def missing_share_(self) -> float:
        """The share of the settled questions that were skipped."""
        return self._engine("missing_share_").missing

    @property
    def history_(self) -> History:
        """Probability, asked or not, prediction and label of every row so far."""
        return self._engine("history_").history()

    def _begun(self) -> Engine:
        if "engine_" not in vars(self):
            raise NotFittedError(
                "this ActiveClassifier has not asked anything yet: ask(X) or pool(X) comes first"
            )
        return self.engine_

    def _appraised(self) -> Appraisal:
        self._begun()
        return self._appraisal

    def _engine(self, attribute: str) -> Engine:
        if "engine_" not in vars(self):
            raise AttributeError(f"ActiveClassifier has no {attribute} before it has asked")
        return self.engine_
