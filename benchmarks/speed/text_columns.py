"""From a CSV file with a column of text to a model: read, tokenise, hash, learn.

`python -m benchmarks.speed.text_columns`. Ours beside scikit-learn's HashingVectorizer and
SGDClassifier.partial_fit on chunks that pandas reads: logistic loss, one pass, 2^18 features, one
thread. The file is made of a public collection of labelled texts in the folder named by
STEELYARD_DATA, repeated until it is long enough.
"""

import csv
import lzma
import os
import tempfile
from pathlib import Path

import click
import pandas
from rich.console import Console
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from benchmarks.support.timing import WALL, Times, alternate, clocked, ratio
from steelyard import losses
from steelyard.io.csv_reader import DelimitedReader, infer_columns, infer_dialect
from steelyard.io.input_spec import InputSpec
from steelyard.io.sources import open_source
from steelyard.io.stream import Stream
from steelyard.learner import Learner
from steelyard.model import Settings

BITS = 18
CHUNK = 5_000
OURS, THEIRS = "steelyard", "scikit-learn"


def write(source: Path, target: Path, megabytes: float) -> None:
    """The labelled texts of `source` as CSV, over and over."""
    csv.field_size_limit(1 << 30)
    with lzma.open(source, "rt", encoding="utf-8", newline="") as lines:
        records = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "text"])
        while target.stat().st_size < megabytes * 1e6:
            writer.writerows((record["label"], record["text"]) for record in records)
            file.flush()


def ours(path: Path) -> float:
    """Guess the columns and learn; returns the progressive loss."""
    with open_source(str(path)) as source:
        dialect = infer_dialect(source)
        columns = infer_columns(source, dialect)
    reader = DelimitedReader(InputSpec("csv", BITS, columns=columns, dialect=dialect))
    settings = Settings(loss=losses.by_name("logistic"), scaling="plain", learning_rate=0.05)
    learner = Learner(settings, 1 << BITS)
    for parsed in Stream([path], reader):
        learner.learn(parsed.examples)
    return learner.model.progressive_loss


def theirs(path: Path) -> SGDClassifier:
    words = HashingVectorizer(
        n_features=1 << BITS, token_pattern="[a-z0-9]+", norm=None, alternate_sign=False, dtype="float32"
    )
    model = SGDClassifier(loss="log_loss", alpha=0.0, learning_rate="constant", eta0=0.05)
    for chunk in pandas.read_csv(path, chunksize=CHUNK, keep_default_na=False):
        model.partial_fit(words.transform(chunk["text"]), chunk["label"], classes=[-1, 1])
    return model


def compare(path: Path, repeats: int) -> Times:
    return alternate([clocked(OURS, lambda: ours(path)), clocked(THEIRS, lambda: theirs(path))], repeats)


@click.command()
@click.option("--data", default=os.environ.get("STEELYARD_DATA", "../shared/data"), show_default=True)
@click.option("--megabytes", default=60.0, show_default=True, help="The least size of the file.")
@click.option("--repeats", default=5, show_default=True)
def main(data: str, megabytes: float, repeats: int) -> None:
    """A column of text to a model, beside scikit-learn."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.csv"
        write(Path(data) / "enron-spam.tsv.xz", path, megabytes)
        times = compare(path, repeats)
        size = path.stat().st_size / 1e6
    for name in (OURS, THEIRS):
        processor, wall = sorted(times[name])[repeats // 2], sorted(times[name + WALL])[repeats // 2]
        console.print(
            f"{name:<13}{size / processor:8.1f} MB/s of processor time{size / wall:8.1f} MB/s on the wall"
        )
    console.print(f"ratio of processor times, median of {repeats}: {ratio(times, OURS, THEIRS):.1f}")


if __name__ == "__main__":
    main()
