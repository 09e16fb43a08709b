"""Which index means which document: one type each, so that mypy refuses one where another is meant.

People, the page and the learner's pool all speak of items. A `DocumentRow` is known only to the table of
documents, a `StreamNumber` only where labels are passed to the learner, and a `ReadPlace` only within it.
"""

from typing import NewType

DocumentRow = NewType("DocumentRow", int)
"""A document's row in the order of the files, from 0: the key of the table of documents in `LabelStore`."""

Item = NewType("Item", int)
"""A document together with its equal copies, from 0: what people label, and a row of the learner's pool."""

StreamNumber = NewType("StreamNumber", int)
"""An item's number in the random order in which the learner considers the pool, from 0; the journal's key."""

ReadPlace = NewType("ReadPlace", int)
"""A row's turn among those that the learner has read, from 0: where it keeps its features, state and label."""
