"""Tiny files in the formats of the paper's data sets, and of what stands in for them."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

_PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}

SVMLIGHT = "1 1:0.5 3:0.25 # a comment\n-1 2:1\n1 1:0.5\n-1 4:2\n"
VOWPAL = "1 |f 1:0.5 3:0.25\n0 |f 2\n1 1.0 tag| 1:0.5\n0 |f 4:2\n"
"""The same rows."""

STAND_INS = {
    "rcv1-ccat.svm.xz": SVMLIGHT,
    "arxiv-astro.tsv.xz": "label\ttitle\tabstract\n1\tStars\tfar away\n-1\tWaves\tof sound\n",
    "enron-spam.tsv.xz": "label\tdate\ttext\n1\t2001\tBuy now now\n-1\t2002\tdear all\n",
    "url-spam.tsv.xz": "label\tkind\turl\n1\tspam\thttp://x.y\n-1\tbenign\thttp://z.org\n",
}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode("latin-1")
    path.write_bytes(_PACKED[path.suffix](data) if path.suffix in _PACKED else data)
    return path


def write_stand_ins(folder: Path) -> None:
    for name, text in STAND_INS.items():
        write(folder, name, text)


def write_mail(folder: Path) -> Path:
    write(folder, "trec05p-1/data/000/000", "Subject: caf\xe9\n\nBUY now\n" + "A" * 76 + "\n")
    write(folder, "trec05p-1/data/000/001", "Subject: minutes\n\nsee you, now\n")
    return write(folder, "trec05p-1/full/index", "spam ../data/000/000\nham ../data/000/001\n")
