"""`Assignments`: which document comes next for whom. Draws of a certificate come first, then second opinions."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from steelyard.active import counter_rng
from steelyard.active.identifiers import Item
from steelyard.active.label_store import CERTIFY, IN_FILE, LABEL, LabelsByPerson
from steelyard.labelling.attempts import Attempts
from steelyard.labelling.leases import DRAW_LEASE, Leases
from steelyard.labelling.project_settings import ProjectSettings

_SECONDS = 1 << 41  # the purpose of the random numbers that say what is labelled twice


class Assignment(NamedTuple):
    """A document that somebody is to label, and for what: `LABEL` or `CERTIFY`."""

    item: Item
    purpose: str


class Assignments:
    """`labels` are those of the session, whose lock guards all of this."""

    def __init__(
        self,
        settings: ProjectSettings,
        labels: Mapping[Item, LabelsByPerson],
        attempts: Attempts,
        asked: Iterable[Item],
        clock: Callable[[], float],
    ) -> None:
        self._twice, self._seed = settings.twice, settings.seed
        self._labels, self._attempts = labels, attempts
        self.leases = Leases(clock)
        self.queue = [item for item in asked if item not in labels]
        """The learner's questions without an answer, in their order."""
        self.second_opinions = [item for item in labels if self._wants_second(item)]
        """Items that somebody has labelled and somebody else is to label, too."""
        self._draws: set[Item] = set()  # of the last attempt, that people were given

    def choose(self, client: str, annotator: str) -> Assignment | None:
        """The document that this client is to label; None if there is none now."""
        for item in self._attempts.upcoming():
            if item not in self._labels and self.leases.is_free(item, client, DRAW_LEASE):
                return Assignment(item, CERTIFY)
        self.second_opinions = [item for item in self.second_opinions if self._has_one_person(item)]
        for item in self.second_opinions:
            if annotator not in self._labels[item] and self.leases.is_free(item, client):
                return Assignment(item, LABEL)
        self.queue = [item for item in self.queue if item not in self._labels]
        own = [item for item in self.queue if self.leases.has(client, item)]
        waiting = own or [item for item in self.queue if self.leases.is_free(item, client)]
        if not waiting:  # nothing else is left
            waiting = [item for item in self.queue if self.leases.is_silent(item)]
        return Assignment(waiting[0], LABEL) if waiting else None

    def give(self, assignment: Assignment, client: str) -> None:
        """Note that the client has the document open."""
        self.leases.give(assignment.item, client)
        if assignment.purpose == CERTIFY:
            self._draws.add(assignment.item)

    def give_again(self, item: Item, client: str) -> None:
        """Give a document back to the client who has just taken back its only label."""
        self.queue = [item, *(other for other in self.queue if other != item)]
        self.leases.give(item, client)

    def finish(self, item: Item) -> None:
        """Note that the document has a label."""
        self.leases.take_back(item)
        if self._wants_second(item):
            self.second_opinions.append(item)

    def is_draw(self, item: Item) -> bool:
        """Whether a label of this item is for a certificate.

        It also is if somebody had the draw open when the attempt ended.
        """
        return item in self._attempts.upcoming() or (item in self._draws and item not in self._labels)

    def forget_draws(self) -> None:
        """Another attempt begins."""
        self._draws.clear()

    def count_abandoned(self) -> int:
        """The number of questions that clients have open who are gone."""
        return self.leases.count_abandoned(item for item in self.queue if item not in self._labels)

    def _wants_second(self, item: Item) -> bool:
        """Whether two people label the item, and one of them has."""
        if self._twice == 0.0 or not self._has_one_person(item):
            return False
        return bool(counter_rng.uniform(self._seed, _SECONDS, np.array([item]))[0] < self._twice)

    def _has_one_person(self, item: Item) -> bool:
        return len([name for name in self._labels.get(item, {}) if name != IN_FILE]) == 1
