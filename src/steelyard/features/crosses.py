"""`Interactions`: which features are multiplied with one another.

An interaction multiplies features, one from each of several fields; a field is a namespace or a column.
`user*item` crosses every feature of `user` with every one of `item`; `item*item` crosses every pair within
`item` once, squares included.

>>> interactions(["user*item", "item*item*hour"])
Interactions(fields=('user', 'item', 'hour'), crosses=((0, 1), (1, 1, 2)))
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_FIELDS = 8  # in one interaction: the number of features multiplies


@dataclass(frozen=True)
class Interactions:
    """The crossed fields, and each cross as indices of them."""

    fields: tuple[str, ...] = ()
    crosses: tuple[tuple[int, ...], ...] = ()

    def array(self) -> NDArray[np.int64]:
        """The crosses for kernels: one a row, padded with −1."""
        order = max((len(cross) for cross in self.crosses), default=1)
        padded = [(*cross, *[-1] * (order - len(cross))) for cross in self.crosses]
        return np.array(padded, np.int64).reshape(len(padded), order)


def interactions(given: Iterable[str]) -> Interactions:
    """Parse `a*b` and the like. The fields of a cross are sorted, so that equal ones are adjacent."""
    fields: list[str] = []
    crosses = []
    for text in given:
        names = [name.strip() for name in text.split("*")]
        if not 2 <= len(names) <= MOST_FIELDS or not all(names):
            raise ValueError(
                f"the interaction {text!r} is not of the form name*name, with 2 to {MOST_FIELDS} names"
            )
        fields += [name for name in dict.fromkeys(names) if name not in fields]
        cross = tuple(sorted(fields.index(name) for name in names))
        if cross not in crosses:
            crosses.append(cross)
    return Interactions(tuple(fields), tuple(crosses))
