"""What the features of a row are: tf-idf on rows of length 1, or counts.

The paper says that its spam alone is not tf-idf. Its rcv1 is by origin; so the stand-ins of astro and webspam
are made so, and the other way is tried beside it. Originals are taken as they are.
"""

from functools import cache

from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from paper import data

AS_PAPER, OTHER = "as in the paper", "other features"
_COUNTED = {"arxiv-astro": True, "url-spam": True, "enron-spam": False}
"""The stand-ins that come as counts, and whether the paper's set in their place is tf-idf."""


def has_other(place: str) -> bool:
    return data.name(place) in _COUNTED


def describe(place: str, kind: str) -> str:
    """The words of captions: "tf-idf" or "counts"."""
    return "tf-idf" if _COUNTED.get(data.name(place), True) == (kind == AS_PAPER) else "counts"


@cache
def matrix(place: str, kind: str = AS_PAPER) -> sparse.csr_matrix:
    """The rows of a place with these features; document frequencies are those of all rows, without labels."""
    found = data.load(place).matrix
    if not has_other(place) or describe(place, kind) == "counts":
        return found
    return TfidfTransformer().fit_transform(found).astype("float32")
