"""A small labelled file, models of it, and files to filter."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run

GOOD, BAD = ("clear", "proof", "theorem", "result"), ("buy", "cheap", "click", "now")
LANGUAGES = {"de": "und der die nicht", "en": "and the not with", "fr": "et le la pas"}


def rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Documents of two qualities and three languages, with quotes and other letters in their text."""
    draw = random.Random(seed)
    found = []
    for k in range(count):
        quality, language = draw.choice(["bad", "good"]), draw.choice([*LANGUAGES])
        words = draw.choices(GOOD if quality == "good" else BAD, k=5) + draw.choices(
            LANGUAGES[language].split(), k=5
        )
        words += draw.choices([*GOOD, *BAD, 'say "é"', "a,b"], k=2)
        draw.shuffle(words)
        found.append({"id": k, "quality": quality, "language": language, "text": " ".join(words)})
    return found


def write_jsonl(path: Path, documents: list[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    text = path.read_bytes()
    text = gzip.decompress(text) if path.suffix == ".gz" else text
    return [json.loads(line) for line in text.decode().splitlines()]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with quality.model (two classes) and language.model (three)."""
    folder = tmp_path_factory.mktemp("models")
    for name, other in (("quality", "language"), ("language", "quality")):
        data = write_jsonl(folder / f"{name}.jsonl", rows(400, 1))
        roles = ("--label", name, "--text", "text", "--ignore", other, "--ignore", "id", "--bits", "12")
        run("train", data, *roles, "-o", folder / f"{name}.model")
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three files, one of them in a folder of its own."""
    folder = tmp_path / "corpus"
    for number, name in enumerate(["a.jsonl.gz", "b.jsonl", "deeper/c.jsonl.gz"]):
        write_jsonl(folder / name, rows(150, 2 + number))
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
