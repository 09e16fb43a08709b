"""`Layout`: which lane a model has among others of its kind."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from steelyard import schedules, updates
from steelyard.learn import batched_loss
from steelyard.learn.batched_loss import WIDTH
from steelyard.model import Settings


class Layout:
    """Lanes of one update lie side by side, filled up with spare ones to whole vectors."""

    def __init__(self, settings: Sequence[Settings]) -> None:
        self.place = np.empty(len(settings), np.int64)
        """The lane of each model."""
        self.numbers: list[int] = []
        """The model of each lane. A spare one does as its neighbour: an idle one would reckon with numbers so
        small that it takes longer."""
        self.bounds = np.zeros(len(updates.names()) + 1, np.int64)
        """Where the lanes of each update begin and end."""
        for i, name in enumerate(updates.names()):
            own = [number for number, each in enumerate(settings) if each.update == name]
            self.place[own] = len(self.numbers) + np.arange(len(own))
            self.numbers += own + own[-1:] * (-len(own) % WIDTH)
            self.bounds[i + 1] = len(self.numbers)
        self.settings = [settings[number] for number in self.numbers]

    def __len__(self) -> int:
        return len(self.numbers)

    def steps(self) -> Any:
        """The array form of each update; one that no lane has is never called, and not compiled."""
        loss, dtype = self.settings[0].loss, self.settings[0].dtype
        return batched_loss.table(
            [batched_loss.steps(loss, update.step, dtype) for update in self._updates()]
        )

    def times(self) -> Any:
        """Likewise, how long each update takes for a change."""
        loss, dtype = self.settings[0].loss, self.settings[0].dtype
        return batched_loss.table(
            [batched_loss.times(loss, update.time, dtype) for update in self._updates()]
        )

    def pushes(self) -> Any:
        """Likewise, how the rate of each update adds up over the stretch of the clock that a row takes."""
        pushes = [
            schedules.frozen if update.freezes_rate else schedules.integral for update in self._updates()
        ]
        return batched_loss.table([batched_loss.pushes_by_lane(each) for each in pushes])

    def _updates(self) -> list[updates.Update]:
        used = {each.update for each in self.settings}
        stand_in = self.settings[0].update
        return [updates.by_name(name if name in used else stand_in) for name in updates.names()]
