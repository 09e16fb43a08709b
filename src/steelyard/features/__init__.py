"""Keys become indices: the sparse rows of a model, interactions included; and the names that a model shows.

Readers make `HashedRows` of text. `Folding` folds the keys into 2^bits indices, and makes the crosses of
`Interactions`. `Names` has the name of each index.
"""

from steelyard.features.crosses import MOST_FIELDS, Interactions, interactions
from steelyard.features.folding import CsrRows, Folding, new_hash_table
from steelyard.features.hashed_rows import HashedRowBuffers, HashedRows
from steelyard.features.names import Candidates, Collisions, Names

__all__ = [
    "MOST_FIELDS", "Candidates", "Collisions", "CsrRows", "Folding", "HashedRowBuffers", "HashedRows",
    "Interactions", "Names", "interactions", "new_hash_table",
]  # fmt: skip
