"""Reuters-21578 by topic: rare classes among real texts. Counts of words; Lewis's split by date.

And 20 newsgroups in the same form, a topic being a group.
"""

import csv
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.support.labelled import open_file, table

Part = tuple[list[set[str]], list[str]]


@dataclass(frozen=True)
class Reuters:
    texts: list[str]
    topics: list[set[str]]
    pool: sparse.csr_matrix
    test: sparse.csr_matrix
    test_topics: list[set[str]]

    def labels(self, topic: str) -> NDArray[np.int64]:
        """1 for documents of the pool on the topic."""
        return _has(self.topics, topic)

    def truth(self, topic: str) -> NDArray[np.int64]:
        return _has(self.test_topics, topic)


def load() -> Reuters:
    return _counted(_read("train"), _read("test"))


def load_newsgroups() -> Reuters:
    rows = list(table("newsgroups.tsv.xz"))
    train, test = ([row for row in rows if row["split"] == part] for part in ("train", "test"))
    return _counted(
        *(([{row["group"]} for row in part], [row["text"] for row in part]) for part in (train, test))
    )


def _counted(train: Part, test: Part) -> Reuters:
    (topics, texts), (test_topics, test_texts) = train, test
    counter = CountVectorizer(dtype=np.float64)
    return Reuters(texts, topics, counter.fit_transform(texts), counter.transform(test_texts), test_topics)


def _read(part: str) -> Part:
    with open_file(f"reuters21578-{part}.tsv.xz") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [set(topics.split(",")) for topics, _ in rows], [text for _, text in rows]


def _has(topics: list[set[str]], topic: str) -> NDArray[np.int64]:
    return np.array([topic in each for each in topics]).astype(np.int64)
