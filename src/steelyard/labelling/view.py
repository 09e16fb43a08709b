"""What the page shows, as JSON: a document in pieces, and how far one has come."""

import importlib.util
import itertools
import math
from pathlib import Path
from typing import Any

from steelyard.active import agreement, strategies
from steelyard.active.identifiers import Item
from steelyard.active.label_store import majority_label
from steelyard.active.sequential_tests import ALPHA, RecallTest, attempt_alpha, plan
from steelyard.labelling import explanation
from steelyard.labelling.corpus import TABLE
from steelyard.labelling.leases import DRAW_LEASE
from steelyard.labelling.project_settings import ERROR, RECALL
from steelyard.labelling.session import LabellingSession

_MOST_FOUND, _MOST_RECENT = 30, 30
_SNIPPET = 120
_SHOWN = ("answers", "value", "low", "high", "met", "refused")


class PageView:
    """What the pages of one session show: plain data, in which text stays text."""

    def __init__(self, session: LabellingSession) -> None:
        self._session, self._project = session, session.project
        self._agreement: tuple[int, dict[str, Any]] = -1, {}

    def about(self) -> dict[str, Any]:
        """What does not change while people label."""
        settings = self._project.settings
        written = settings.kind != TABLE and not (settings.kind == "ris" and len(settings.classes) > 2)
        return {
            "classes": list(settings.classes), "positive": settings.positive, "measure": settings.measure,
            "target": settings.target,
            "estimates": strategies.by_name(settings.strategy).randomized or settings.audit > 0.0,
            "exchange": settings.kind if written else None,
            "parquet": importlib.util.find_spec("pyarrow") is not None,
            "documents": self._project.store.count(), "items": self._session.feed.items,
            "name": Path(self._project.path).name.removesuffix(".journal"),
        }  # fmt: skip

    def document(self, item: Item, annotator: str, purpose: str = "") -> dict[str, Any]:
        """A document with the words that decide, and this person's label."""
        document = self._project.store.document(item)
        coefficients, likely = self._session.feed.explain(item)
        labels = self._session.labels.get(item, {})
        texts = explanation.pieces(document.fields, self._project.texts, coefficients)
        others = {name: document.fields.get(name) for name in self._project.others}
        return {
            "item": item, "id": document.id, "purpose": purpose,
            "texts": [[name, pieces] for name, pieces in texts.items() if pieces],
            "others": [[name, str(value)] for name, value in others.items() if value not in (None, "")],
            "labelled": annotator in labels, "label": labels.get(annotator), "marked_for": likely,
        }  # fmt: skip

    def next(self, client: str, annotator: str) -> dict[str, Any]:
        """The next document, and the progress so far."""
        chosen = self._session.next(client, annotator)
        question = None if chosen is None else self.document(chosen.item, annotator, chosen.purpose)
        return self.state(annotator) | {"question": question}

    def state(self, annotator: str) -> dict[str, Any]:
        """The progress so far, of everybody and of this person."""
        session = self._session
        with session.lock:
            counts, people = session.book.counts, +session.book.by_person
            attempt, certificate = self._attempt(), self._certificate()
            stamp = sum(people.values())
            if self._agreement[0] != stamp and len(people) > 1:
                self._agreement = stamp, agreement.summarise(session.labels)
        return {
            "labelled": sum(counts.values()) - counts[None], "skipped": counts[None],
            "read": len(session.labels),
            "mine": people[annotator],
            "counts": [counts[name] for name in self._project.settings.classes],
            "budget": self._project.settings.budget, "people": sorted(people),
            "agreement": self._agreement[1], "estimates": [
                {name: each[name] for name in _SHOWN if name in each} for each in session.feed.estimates
            ],
            "attempt": attempt, "certificate": certificate, "dry": session.book.dry,
            "trouble": session.worker.trouble,
        }  # fmt: skip

    def _attempt(self) -> dict[str, Any] | None:
        """The attempt that is under way, or is to begin."""
        session, attempt = self._session, self._session.attempts.current
        if attempt is None:
            wish = session.worker.wish
            return None if wish is None else {"measure": wish[0], "target": wish[1], "waits": True}
        test = attempt.test
        counts = {"found": test.found} if isinstance(test, RecallTest) else {"wrong": test.bad}
        return counts | {
            "measure": attempt.measure, "target": attempt.target, "labels": len(attempt.answers),
            "labels_left": attempt.labels_left,
            "waiting": session.attempts.count_waiting(session.labels), "lease": DRAW_LEASE,
        }  # fmt: skip

    def forecast(self, measure: str, target: float) -> dict[str, Any]:
        """The number of labels that a certificate will probably take, so that people can decide to begin.

        For error and precision, a plan's number if the model is as bad as estimated, but at least a quarter
        as bad as the claim allows (few labels may show no error at all); without an estimate, half as bad.
        For recall, the number if nothing more is found. None: it would not pass.
        """
        session, settings = self._session, self._project.settings
        with session.lock:
            counts, read = session.book.counts, len(session.labels)
            latest = session.feed.estimates[-1] if session.feed.estimates else {}
            alpha = attempt_alpha(ALPHA, self._project.journal.attempts.count() + 1)
        if measure == RECALL:
            test = RecallTest(target, session.feed.items, alpha)
            test.read, test.found = read, counts[settings.positive]
            return {"labels": test.forecast(), "expected": None}
        known = latest.get("value") if measure == settings.measure else None
        unlabelled = session.feed.items - read + counts[None]
        allowed = target if measure == ERROR else 1.0 - target
        some = allowed if allowed * unlabelled > 1.0 else 0.0  # else not a single one may be wrong
        expected, why = some / 2.0, "half of what is allowed"
        if known is not None:
            expected, why = known, "as estimated"
            if known < some / 4.0:
                expected, why = some / 4.0, "a quarter of what is allowed"
            elif known >= allowed > latest["low"]:
                expected, why = some / 2.0, "half of what is allowed: the estimate is too uncertain to tell"
        expected = round(expected, 4)
        if math.ceil(expected * unlabelled) >= math.ceil(allowed * unlabelled):
            return {"labels": None, "expected": expected, "why": why}
        return {"labels": plan(unlabelled, allowed, expected, alpha).labels, "expected": expected, "why": why}

    def _certificate(self) -> dict[str, Any] | None:
        """The certificate to show, and whether it proves the goal for the present model and documents."""
        last, goal = self._session.attempts.last, self._project.settings
        if last is None:
            return None
        tight = last["target"] <= goal.target if goal.measure == ERROR else last["target"] >= goal.target
        return last | {
            "reaches_goal": last["passed"] and last["measure"] == goal.measure and tight,
            "up_to_date": not last["learned_since"] and not last["added"],
        }

    def search(self, text: str, annotator: str) -> list[dict[str, Any]]:
        """Documents with this text."""
        return self._list(self._project.store.search(text, _MOST_FOUND), annotator)

    def recent(self, annotator: str) -> list[dict[str, Any]]:
        """The documents that this person labelled last."""
        with self._session.lock:
            latest = list(itertools.islice(self._session.book.items_of(annotator), _MOST_RECENT))
        return self._list(latest, annotator)

    def _list(self, items: list[Item], annotator: str) -> list[dict[str, Any]]:
        return [self._entry(item, annotator) for item in items]

    def _entry(self, item: Item, annotator: str) -> dict[str, Any]:
        """The beginning of a document, and its label: this person's or else the majority's."""
        fields = self._project.store.document(item).fields
        shown = self._project.texts or self._project.others
        text = " ".join(str(fields[name]) for name in shown if fields.get(name) is not None)
        labels = self._session.labels.get(item, {})
        label = labels[annotator] if annotator in labels else majority_label(labels)
        snippet = " ".join(text.split())[:_SNIPPET]
        return {"item": item, "snippet": snippet, "labelled": bool(labels), "label": label}
