"""Rows of word counts from text: tables of documents, and folders of mail."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from paper.rows import LabelledRows, Labels, open_unpacked, to_two_classes

WORDS: dict[str, Any] = {"token_pattern": "[a-z0-9]+"}
TRIGRAMS: dict[str, Any] = {"analyzer": "char", "ngram_range": (3, 3)}
# Longer "words" in a mail are lines of attachments, each of which occurs once.
MAIL: dict[str, Any] = {"token_pattern": "(?<![a-z0-9])[a-z0-9]{1,30}(?![a-z0-9])"}


def table_reader(columns: Sequence[str], counting: dict[str, Any]) -> Callable[[Path], LabelledRows]:
    """A reader for tab-separated text with a header, a column `label`, and columns of text."""

    def read(path: Path) -> LabelledRows:
        with open_unpacked(path) as stream:
            lines = [line.decode("utf-8").rstrip("\n").split("\t") for line in stream]
        header, rows = lines[0], lines[1:]
        missing = [column for column in ("label", *columns) if column not in header]
        if missing:
            raise click.ClickException(f"{path} has no column {missing[0]!r}: its header is {header}")
        label, places = header.index("label"), [header.index(column) for column in columns]
        labels = np.array([float(row[label]) for row in rows])
        texts = [" ".join(row[place] for place in places) for row in rows]
        return count_words(path, texts, labels, counting)

    return read


def read_mail(index: Path) -> LabelledRows:
    """Read the messages, including headers, that an index lists: `spam ../data/000/000`."""
    listed = list_mail(index)
    labels = np.array([1.0 if kind == "spam" else -1.0 for kind, _ in listed])
    # Latin-1 decodes any byte, so no message is lost for its encoding.
    texts = (path.read_bytes().decode("latin-1") for _, path in listed)
    return count_words(index, texts, labels, MAIL)


def list_mail(index: Path) -> list[tuple[str, Path]]:
    """The kind and the path of each message."""
    found = []
    for number, line in enumerate(index.read_text(encoding="utf-8").splitlines(), start=1):
        kind, _, path = line.strip().partition(" ")
        if kind not in ("spam", "ham"):
            raise click.ClickException(f"{index}, line {number}: expected 'spam PATH' or 'ham PATH'")
        if not (index.parent / path).is_file():
            raise click.ClickException(f"{index}, line {number}: there is no message {index.parent / path}")
        found.append((kind, index.parent / path))
    return found


def count_words(path: Path, texts: Iterable[str], labels: Labels, counting: dict[str, Any]) -> LabelledRows:
    classes = to_two_classes(path, labels)  # checked before the longer work
    return LabelledRows(CountVectorizer(dtype=np.float32, **counting).fit_transform(texts), classes)
