"""The engine: it considers examples one after another, asks for some labels, and learns the answers.

Answers come when they come and in any order. Whatever happens is in the journal first; an engine that is
begun with the journal of another goes on as that one would have.

>>> import numpy as np
>>> from steelyard import Settings
>>> from steelyard.active.engine import Engine
>>> from steelyard.active.budget import Plan
>>> from steelyard.examples import examples
>>> engine = Engine(Settings(), features=2, plan=Plan(rate=0.5))
>>> (question,) = engine.consider(examples(np.array([[1.0, 0.0]])))
>>> question.id, question.probability
(0, 1.0)
>>> engine.answer([question.id], [1.0])
>>> engine.predict(examples(np.array([[1.0, 0.0]]))) > 0.0
array([ True])
"""

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import losses
from steelyard.active import counter_rng, iwal
from steelyard.active.budget import Plan, Steering
from steelyard.active.journal import ANSWER, SKIP, UNDO, Asked, Decisions, Event, History, Journal
from steelyard.active.labelled import Labelled, Training
from steelyard.examples import Examples
from steelyard.learner import Learner
from steelyard.losses import class_labels
from steelyard.model import Model, Settings

_QUESTIONS, _AUDIT = 0, 1  # what is drawn for them
_PAST = {ANSWER: "answered", SKIP: "skipped"}


@dataclass(frozen=True)
class Question:
    """An example whose label is wanted."""

    id: int
    """Its number in the stream, from 0."""
    probability: float
    """With which it was to be asked for; estimates weigh its label by one over it."""
    prediction: float
    """w·x, before the label is known."""
    place: int
    """Its row among those that were considered together, from 0."""


class Engine:
    """`journal` keeps all that happens; without one it is kept in memory, for as long as that lasts."""

    def __init__(
        self,
        settings: Settings,
        features: int,
        plan: Plan,
        training: Training | None = None,
        journal: Journal | None = None,
        about: dict[str, Any] | None = None,
    ) -> None:
        class_labels(settings.loss)
        self.plan, self.training = plan, training or Training()
        self.journal = journal or Journal()
        self.steering = Steering(plan)
        self.labelled = Labelled(settings, features, self.training)
        self.seen = 0
        """Examples of the stream so far."""
        self.decided: Decisions | None = None
        """About the examples that were considered last, in this process."""
        self._features = features
        self._asked: dict[int, tuple[int, float]] = {}  # by number: the place among the rows kept, P
        self._events: list[Event] = []  # that stand
        self._state: dict[int, str] = {}  # of questions that are not open: answered or skipped
        self._audited = 0  # answers that were not learned
        self._agree(settings, about or {})
        self._resume()

    def _agree(self, settings: Settings, about: dict[str, Any]) -> None:
        """A journal goes on only as it was begun."""
        name = losses.name_of(settings.loss) or type(settings.loss).__name__
        now: dict[str, dict[str, Any]] = {
            "settings": asdict(settings) | {"loss": {"name": name} | asdict(settings.loss)},
            "plan": asdict(self.plan),
            "training": asdict(self.training),
            "about": about | {"features": self._features},
        }
        kept = self.journal.begin(now)
        changed = [name for part in now for name in now[part] if kept[part].get(name) != now[part][name]]
        if changed:
            raise ValueError(
                f"{self.journal.path}: was begun with another {' and '.join(changed)}; go on as it was "
                "begun, or begin a new journal"
            )

    def _resume(self) -> None:
        probabilities = [np.zeros(0)]
        for block in self.journal.decisions():
            probabilities.append(block.probabilities)
            recent = np.append(self.steering.window, block.flips)
            self.steering.window = recent[len(recent) - block.looked_at :]
            self.steering.bound, self.steering.thinning = block.bound, block.thinning
        all_of_them = np.concatenate(probabilities)
        self.seen = len(all_of_them)
        for asked in self.journal.asked():
            self._keep(asked, float(all_of_them[asked.number]))
        for event in self.journal.standing():
            self._apply(event)

    def _keep(self, asked: Asked, probability: float) -> None:
        self._asked[asked.number] = len(self.labelled.rows), probability
        self.labelled.rows.add(asked.indices, asked.values)

    @property
    def asked(self) -> int:
        """Questions so far."""
        return len(self._asked)

    @property
    def answered(self) -> int:
        return len(self.labelled) + self._audited

    @property
    def skipped(self) -> int:
        return len(self._state) - self.answered

    @property
    def missing(self) -> float:
        """The share of questions that were skipped, of all that are settled; NaN before there are any."""
        return self.skipped / len(self._state) if self._state else float("nan")

    @property
    def open(self) -> list[int]:
        """The ids of questions that wait for an answer."""
        return [number for number in self._asked if number not in self._state]

    @property
    def spent(self) -> bool:
        """Whether there is a budget and nothing of it left. A skipped question costs nothing."""
        return self.steering.spent(self.asked - self.skipped)

    @property
    def model(self) -> Model:
        """The model to predict with: refitted on all answers."""
        return self.labelled.final

    def predict(self, examples: Examples) -> NDArray[np.float64]:
        """w·x of each row, by the model refitted on all answers."""
        return Learner(model=self.model).predict(examples)

    def probabilities(self, examples: Examples) -> NDArray[np.float64]:
        """With which each row would be asked for, if it came next. Nothing is decided by that."""
        flips, _ = iwal.flip_importances(self.labelled.model, examples)
        p = self.steering.probabilities(flips, self.seen + 1, self.asked - self.skipped)
        return p if self.spent else self.plan.overall(p)

    def in_audit(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which examples of the stream are asked for whatever they are, and not learned."""
        drawn: NDArray[np.bool_] = counter_rng.uniform(self.training.seed, _AUDIT, numbers) < self.plan.audit
        return drawn

    def place(self, number: int) -> int:
        """Of a question, among the rows that are kept."""
        return self._asked[number][0]

    def consider(self, examples: Examples, *, first_only: bool = False) -> list[Question]:
        """Go on in the stream by these rows; returns those to ask for.

        With `first_only` it stops at the first of them, and `seen` says how far it is.
        """
        if examples.offsets is not None:
            raise ValueError("rows with a base of their own cannot be asked for: leave the offsets out")
        flips, predictions = iwal.flip_importances(self.labelled.model, examples)
        steering = copy.copy(self.steering)  # changed only once all is in the journal
        begin, count = self.seen, len(examples)
        probabilities = np.zeros(count)
        places: list[int] = []
        cost = self.asked - self.skipped
        at = 0
        while at < count and not (first_only and places):
            k = begin + at + 1
            end = min(count, at + steering.stretch(k))
            counts = np.arange(k, k + end - at)
            p = steering.probabilities(flips[at:end], counts, cost)
            ask = counter_rng.uniform(self.training.seed, _QUESTIONS, counts) < p
            if not steering.spent(cost):
                ask, p = ask | self.in_audit(counts - 1), self.plan.overall(p)
            hits = np.flatnonzero(ask)
            if len(hits):
                end = at + int(hits[0]) + 1
                places.append(end - 1)
                cost += 1
            probabilities[at:end] = p[: end - at]
            steering.saw(flips[at:end], begin + end, cost, question=len(hits) > 0)
            at = end
        asked = [Asked(begin + place, *_row(examples, place)) for place in places]
        decisions = Decisions(
            begin, probabilities[:at], predictions[:at], flips[:at],
            steering.bound, steering.thinning, len(steering.window),
        )  # fmt: skip
        if at:
            self.journal.decide(decisions, asked)
        self.seen, self.steering, self.decided = begin + at, steering, decisions
        for each, place in zip(asked, places, strict=True):
            self._keep(each, float(probabilities[place]))
        return [
            Question(begin + place, float(probabilities[place]), float(predictions[place]), place)
            for place in places
        ]

    def answer(self, ids: Sequence[int], labels: Sequence[float]) -> None:
        """The labels of questions, as the loss takes them; all of them or, if one is wrong, none."""
        self._settle([Event(ANSWER, number, float(y)) for number, y in zip(ids, labels, strict=True)])

    def skip(self, ids: Sequence[int]) -> None:
        """Questions that stay without an answer."""
        self._settle([Event(SKIP, number) for number in ids])

    def _settle(self, events: list[Event]) -> None:
        loss = self.labelled.settings.loss
        for place, event in enumerate(events):
            if event.number not in self._asked:
                raise ValueError(f"there is no question {event.number!r}: it was not asked")
            done = self._state.get(event.number)
            if done is not None:
                raise ValueError(f"question {event.number} was {_PAST[done]} already; undo that first")
            if event.number in {other.number for other in events[:place]}:
                raise ValueError(f"question {event.number} is there twice")
            if event.label is not None and event.label not in class_labels(loss):
                raise ValueError(
                    f"question {event.number} has the label {event.label}: {type(loss).__name__} loss takes "
                    f"{' and '.join(map(str, class_labels(loss)))}"
                )
        self.journal.add(events)
        for event in events:
            self._apply(event)

    def undo(self) -> int:
        """Take back the last answer or skip that stands; returns the id of its question, open again."""
        if not self._events:
            raise ValueError("there is nothing to undo: no question was answered or skipped")
        last = self._events[-1]
        self.journal.add([Event(UNDO, last.number)])
        self._events.pop()
        del self._state[last.number]
        if last.kind == ANSWER and self.in_audit(np.array([last.number]))[0]:
            self._audited -= 1
        elif last.kind == ANSWER:
            self.labelled.undo()
        return last.number

    def _apply(self, event: Event) -> None:
        self._events.append(event)
        self._state[event.number] = event.kind
        if event.label is not None:
            place, probability = self._asked[event.number]
            if self.in_audit(np.array([event.number]))[0]:
                self._audited += 1
            else:
                self.labelled.answer(place, event.label, self.plan.chosen(probability))

    def history(self) -> History:
        """All that happened, as columns in the order of the stream."""
        return self.journal.history()


def _row(examples: Examples, row: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Its features, as they are kept. Those of a dense row that are 0 are left out."""
    start, end = examples.indptr[row], examples.indptr[row + 1]
    values = examples.values[start:end].astype(np.float64)
    indices = (examples.indices if examples.dense else examples.indices[start:end]).astype(np.int32)
    return (indices[values != 0.0], values[values != 0.0]) if examples.dense else (indices, values)
