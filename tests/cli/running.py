"""Commands run in this process, and small files for them."""

import json
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scipy import sparse

from steelyard import model_file
from steelyard.cli import main, scoring
from steelyard.engine import file_rows
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.model_file import ModelFile
from steelyard.scoring import file_scores
from steelyard.scoring.matching import match_files
from steelyard.scoring.predicting import accept_any_labels

PLAIN = ("--scaling", "plain", "--learning-rate", "0.5", "--dtype", "float64", "--bits", "12")


def run(*arguments: Any, code: int = 0, stdin: bytes | None = None) -> Result:
    """Run a command that ends with this code, without a traceback."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def trained(*arguments: Any, stdin: bytes | None = None) -> dict[str, Any]:
    """What `train --json` says."""
    found: dict[str, Any] = json.loads(run("train", *arguments, "--json", stdin=stdin).stdout)
    return found


@dataclass(frozen=True)
class Stored:
    """A model file of one model, and how it reads files."""

    content: ModelFile
    model: Model
    spec: InputSpec


def stored(path: Path, loss: type[Loss] | None = None) -> Stored:
    content = model_file.load(path, loss)
    (model,) = content.engine.models
    return Stored(content, model, file_rows.spec_of(content, path))


def matrix(model: Path, file: Path) -> sparse.csr_matrix:
    """The rows of a file as the model takes them, for estimators."""
    spec = match_files(scoring.load(model, None).spec(), [str(file)], str(model))[0]
    parts = [parsed.examples for parsed in Stream([file], accept_any_labels(spec).reader(), loss=None)]
    return sparse.vstack(
        [
            sparse.csr_matrix((part.values, part.indices, part.indptr), (len(part), spec.features))
            for part in parts
        ]
    ).tocsr()


def without_record(path: Path) -> tuple[Any, bytes]:
    """The content of a model file, apart from what it says of the files it was trained on."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    about = json.loads(header["__metadata__"]["steelyard"])
    del about["extra"]["training"]
    return header | {"__metadata__": about}, content[end:]


def refused(*arguments: Any, stdin: bytes | None = None) -> str:
    """What a command says that fails: a line or two."""
    result = run(*arguments, code=1, stdin=stdin)
    assert result.stderr.startswith("Error: ")
    return result.stderr.removeprefix("Error: ").strip()


def blocks_of(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands read so many bytes at a time."""
    for room in (file_rows, file_scores):
        monkeypatch.setattr(room, "Stream", partial(Stream, block_size=size))


def rows(count: int, seed: int = 0, *, weights: bool = False) -> str:
    """Vowpal Wabbit text: labels −1 and 1 that can be learned, namespaces a and b, some tags and weights."""
    draw = random.Random(seed)
    lines = []
    for k in range(count):
        words = [draw.randrange(20) for _ in range(draw.randrange(1, 6))]
        label = 1 if sum(word % 3 - 1 for word in words) + draw.gauss(0, 0.5) > 0 else -1
        weight = f" {draw.choice([0, 0.5, 1, 3, 17.25])}" if weights else ""
        tag = f" 'row{k}" if k % 3 == 0 else ""
        features = " ".join(f"w{word}:{draw.choice([1, 0.5, 2])}" for word in words)
        lines.append(f"{label}{weight}{tag} |a {features} |b {draw.randrange(4)}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of 200 rows, of different weights."""
    path = tmp_path / "rows.vw"
    path.write_text(rows(200, weights=True))
    return path


@pytest.fixture
def model(tmp_path: Path, file: Path) -> Path:
    """A logistic model of that file."""
    path = tmp_path / "rows.model"
    run("train", file, "--loss", "logistic", *PLAIN, "-o", path)
    return path
