"""Filtering beside fastText: `STEELYARD_DATA=folder python -m benchmarks.speed.filtering`.

It writes its tables into docs/filtering.md.

Both learn the same documents and score the others; processor time is that of scoring alone, start-up is told
apart. fastText is called as its users call it, once per document, and once with a list. Each measurement is a
process of its own; ours and theirs alternate, and medians are shown.
"""

import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.support import sections

PAGE = Path(__file__).parents[2] / "docs/filtering.md"
SETS = {"enron-spam": ("enron-spam.tsv.xz", 0, 2), "arxiv-astro": ("arxiv-astro.tsv.xz", 0, 2)}
HEADS = [
    "documents, words in a row", "", "documents / processor second", "ours is", "accuracy", "training",
    "start-up", "model",
]  # fmt: skip
_TEST = 5  # one document in five is scored

_OURS = """
import json, os, sys, time
from steelyard.filtering import filter_files
model, corpus, small, out, threads = sys.argv[1:6]
def timed(files, folder):
    wall, before = time.perf_counter(), time.process_time()
    found = filter_files(model, files, folder, keep="p >= 0.5", threads=int(threads))
    return found, time.perf_counter() - wall, time.process_time() - before
timed(small, out + "-first")  # loads the kernels and the model
started = time.process_time()
_, loading_wall, loading = timed(small, out + "-small")  # loads the model
found, wall, spent = timed(corpus, out)
wall, spent = wall - loading_wall, spent - loading
import resource
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rows = found.statistics["rows"]
print(json.dumps({"rows": rows, "seconds": spent, "wall": wall, "startup": started, "peak": peak}))
"""
_THREADS = """
import json, sys, time
from steelyard.filtering import filter_files
model, corpus, out, repeats = sys.argv[1:5]
found = {1: [], 2: []}
filter_files(model, corpus, out + "-first", threads=2)
for turn in range(int(repeats)):
    for threads in found:
        wall = time.perf_counter()
        rows = filter_files(model, corpus, f"{out}-{turn}-{threads}", threads=threads).statistics["rows"]
        found[threads].append(rows / (time.perf_counter() - wall))
print(json.dumps(found))
"""
_THEIRS = """
import json, sys, time
import fasttext
fasttext.FastText.eprint = lambda *_: None
model, corpus, how, repeats = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
model = fasttext.load_model(model)
model.predict("one document")
started = time.process_time()
before = time.process_time()
rows = 0
for _ in range(repeats):
    if how == "one":
        for line in open(corpus, encoding="utf-8"):
            model.predict(json.loads(line)["text"].replace("\\n", " "))
            rows += 1
    else:
        lines = [json.loads(line)["text"].replace("\\n", " ") for line in open(corpus, encoding="utf-8")]
        model.predict(lines)
        rows += len(lines)
print(json.dumps({"rows": rows, "seconds": time.process_time() - before, "startup": started}))
"""
_TRAIN = """
import json, sys, time
import fasttext
train, model, words, corpus = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
before = time.process_time()
found = fasttext.train_supervised(train, wordNgrams=words, verbose=0, thread=1)
spent = time.process_time() - before
found.save_model(model)
right = rows = 0
for line in open(corpus, encoding="utf-8"):
    row = json.loads(line)
    right += found.predict(row["text"].replace("\\n", " "))[0][0] == "__label__" + row["truth"]
    rows += 1
print(json.dumps({"accuracy": right / rows, "seconds": spent}))
"""


def _run(script: str, *arguments: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def write_files(name: str, folder: Path, copies: int) -> int:
    """Documents to learn, as JSON lines and as fastText's text, and a corpus to score; how many those are."""
    file, label, text = SETS[name]
    with lzma.open(Path(os.environ["STEELYARD_DATA"]) / file, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines][1:]
    random.Random(0).shuffle(rows)
    held = len(rows) // _TEST
    with (folder / "train.jsonl").open("w") as ours, (folder / "train.txt").open("w") as theirs:
        for row in rows[held:]:
            ours.write(json.dumps({"label": row[label], "text": row[text]}) + "\n")
            theirs.write(f"__label__{row[label]} {row[text]}\n")
    test = "".join(json.dumps({"truth": row[label], "text": row[text]}) + "\n" for row in rows[:held])
    (folder / "test.jsonl").write_text(test)
    (folder / "small.jsonl").write_text(test[: test.index("\n") + 1])
    corpus = folder / "corpus"
    corpus.mkdir()
    for number in range(copies):
        (corpus / f"part-{number}.jsonl").write_text(test)
    return held


def train(folder: Path, words: int) -> float:
    """A model with all defaults but the number of words, and of bits; its processor time."""
    command = [sys.executable, "-c", "from steelyard.cli import main; main()"]
    before = os.times()
    subprocess.run(
        [*command, "train", str(folder / "train.jsonl"), "--words", str(words), "--threads", "1",
         "--bits", "22", "-o", str(folder / "ours.model")],
        capture_output=True, check=True,
    )  # fmt: skip
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def accuracy_of(folder: Path) -> float:
    """The share of test documents that are predicted rightly."""
    from click.testing import CliRunner

    from steelyard.cli import main

    found = folder / "scored"
    CliRunner().invoke(
        main, ["filter", str(folder / "ours.model"), str(folder / "test.jsonl"), "-o", str(found)],
        catch_exceptions=False,
    )  # fmt: skip
    rows = [json.loads(line) for line in (found / "test.jsonl").read_text().splitlines()]
    labels = sorted({row["truth"] for row in rows}, key=lambda label: (len(label), label))
    high = "1" if "1" in labels else labels[-1]
    right = sum((row["ours_p"] >= 0.5) == (row["truth"] == high) for row in rows)
    return float(right / len(rows))


def measure(name: str, words: int, repeats: int, copies: int) -> list[list[str]]:
    """The rows of the table for one set of documents."""
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as place:
        folder = Path(place)
        held = write_files(name, folder, copies)
        train(folder, words)  # compiles, if that has not been done on this machine
        training = train(folder, words)
        accuracy = accuracy_of(folder)
        known = find_spec("fasttext") is not None
        theirs = (
            _run(_TRAIN, folder / "train.txt", folder / "theirs.bin", words, folder / "test.jsonl")
            if known
            else {}
        )
        speeds: dict[str, list[float]] = {"ours": [], "one": [], "list": []}
        starts: dict[str, list[float]] = {"ours": [], "one": []}
        for turn in range(repeats):
            found = _run(
                _OURS,
                folder / "ours.model",
                folder / "corpus",
                folder / "small.jsonl",
                folder / f"out-{turn}",
                1,
            )
            speeds["ours"].append(found["rows"] / found["seconds"])
            starts["ours"].append(found["startup"])
            for how in ("one", "list") if known else ():
                found = _run(_THEIRS, folder / "theirs.bin", folder / "test.jsonl", how, max(copies // 4, 1))
                speeds[how].append(found["rows"] / found["seconds"])
                if how == "one":
                    starts["one"].append(found["startup"])
        ours = median(speeds["ours"])
        rows = [[
            f"{name}, {words}", "steelyard", f"{ours:,.0f}", "", f"{accuracy:.2%}", f"{training:.1f} s",
            f"{median(starts['ours']):.2f} s", _size(folder / "ours.model"),
        ]]  # fmt: skip
        for how, said in (("one", "fastText, one by one"), ("list", "fastText, a list")) if known else ():
            speed = median(speeds[how])
            rows.append([
                f"({held:,} test documents)" if how == "one" else "", said, f"{speed:,.0f}",
                f"{ours / speed:.1f} ×", f"{theirs['accuracy']:.2%}", f"{theirs['seconds']:.1f} s",
                f"{median(starts['one']):.2f} s", _size(folder / "theirs.bin"),
            ])  # fmt: skip
        return rows


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:,.0f} MB"


def write_generated(folder: Path, copies: int) -> None:
    """Documents of drawn words, of which a few tell the class: speed and memory need no real ones."""
    draw = random.Random(0)
    words = [f"word{k}" for k in range(20_000)]
    often = [1.0 / (k + 10) for k in range(len(words))]

    def lines(count: int) -> str:
        found = []
        for _ in range(count):
            label = draw.choice(["bad", "good"])
            chosen = [
                *draw.choices(words, often, k=draw.randrange(50, 350)),
                *[f"{label}{k}" for k in range(5)],
            ]
            found.append(json.dumps({"label": label, "text": " ".join(chosen)}) + "\n")
        return "".join(found)

    (folder / "train.jsonl").write_text(lines(5_000))
    text = lines(10_000)
    (folder / "test.jsonl").write_text(text)
    (folder / "small.jsonl").write_text(text[: text.index("\n") + 1])
    for name, count in (("corpus", copies), ("few", max(copies // 4, 1))):
        (folder / name).mkdir()
        for number in range(count):
            (folder / name / f"part-{number}.jsonl").write_text(text)


def measure_threads(repeats: int, copies: int) -> tuple[str, str]:
    """1 against 2 threads, and the memory of a corpus and of a quarter of it."""
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as place:
        folder = Path(place)
        write_generated(folder, copies)
        train(folder, 2)
        model, small = folder / "ours.model", folder / "small.jsonl"
        speeds = _run(_THREADS, model, folder / "corpus", folder / "out", repeats)
        few, many = (
            _run(_OURS, model, folder / name, small, folder / f"out-{name}", 2)["peak"]
            for name in ("few", "corpus")
        )
        size = sum(path.stat().st_size for path in (folder / "corpus").iterdir()) / 1e6
    ratios = [two / one for one, two in zip(speeds["1"], speeds["2"], strict=True)]
    return (
        f"{os.cpu_count()} cores, generated documents: {median(speeds['1']):,.0f} documents a second of the "
        f"clock on one thread, {median(ratios):.2f} × as many on two (the median of {repeats} pairs: "
        f"{', '.join(f'{each:.2f}' for each in sorted(ratios))}).",
        f"Memory at its peak, with two threads and a model of 2^22 coefficients: {many:,.0f} MB for "
        f"{size:,.0f} MB of text, {few:,.0f} MB for a quarter of it.",
    )


def measure_startup(repeats: int) -> str:
    """The processor time of whole processes that answer one row."""
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as place:
        folder = Path(place)
        write_generated(folder, 1)
        train(folder, 1)
        command = (
            "import sys; sys.argv = ['steelyard', *sys.argv[1:]]; from steelyard.cli import main; main()"
        )
        model, small = str(folder / "ours.model"), str(folder / "small.jsonl")
        subprocess.run(
            [sys.executable, "-c", command, "export", model, "-o", str(folder / "m.json")], check=True
        )
        load = "import sys; from steelyard.predictor import Predictor; p = Predictor.load(sys.argv[1]); "
        processes = {
            "python, which imports NumPy": ["import numpy"],
            "`steelyard.predictor`": [load + "p.predict(['one document'])", str(folder / "m.json")],
            "`steelyard predict`": [command, "predict", model, small],
        }
        times: dict[str, list[float]] = {name: [] for name in processes}
        for _ in range(repeats):
            for name, arguments in processes.items():
                before = os.times()
                subprocess.run([sys.executable, "-c", *arguments], capture_output=True, check=True)
                after = os.times()
                spent = after.children_user - before.children_user
                times[name].append(spent + after.children_system - before.children_system)
        size = (folder / "m.json").stat().st_size / 1e6
        rows = [[name, f"{median(found):.2f} s"] for name, found in times.items()]
        return sections.table(
            [f"a process that answers one row (JSON of {size:.1f} MB)", "processor time"], rows
        )


@click.command()
@click.option("--repeats", default=5, show_default=True)
@click.option("--copies", default=16, show_default=True, help="How often the documents are scored.")
@click.option(
    "--only", type=click.Choice(["fasttext", "startup", "threads"]), help="Measure one part, and write that."
)
@click.option("--page", type=click.Path(path_type=Path), default=PAGE)
def main(repeats: int, copies: int, only: str | None, page: Path) -> None:
    """Measure, and write the tables."""
    texts = {}
    if only in (None, "fasttext"):
        rows = [row for name in SETS for words in (1, 2) for row in measure(name, words, repeats, copies)]
        texts["fasttext"] = sections.table(HEADS, rows)
    if only in (None, "startup"):
        texts["startup"] = measure_startup(repeats)
    if only in (None, "threads"):
        texts["threads"] = "\n\n".join(measure_threads(repeats, copies))
    for part, text in texts.items():
        sections.write(page, f"benchmarks.speed.filtering --only {part}", text)
        click.echo(text)


if __name__ == "__main__":
    main()
