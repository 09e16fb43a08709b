"""A small project of texts of two classes, and a session over it."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.active.identifiers import Item
from steelyard.labelling import corpus
from steelyard.labelling import session as session_module
from steelyard.labelling.project import Project
from steelyard.labelling.project_settings import ProjectSettings
from steelyard.labelling.session import LabellingSession

CLASSES = ("ham", "spam")
_WORDS = {
    "ham": ["lunch", "home", "later", "meeting", "love", "rain", "dinner", "bus", "sorry", "today"],
    "spam": ["free", "prize", "win", "cash", "claim", "ringtone", "urgent", "offer", "txt", "call"],
}
_BOTH = ["the", "a", "you", "to", "and", "it", "is", "on", "for", "at"]


def texts(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Texts with their classes; some are equal."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        label = CLASSES[draw.random() < 0.4]
        words = draw.choices(_WORDS[label], k=3) + draw.choices(_BOTH, k=4)
        draw.shuffle(words)
        found.append((" ".join(words) + f" {number % (count - count // 10)}", label))
    return found


def truth(text: str) -> str:
    return "spam" if set(text.split()) & set(_WORDS["spam"]) else "ham"


def write_table(path: Path, count: int = 120) -> Path:
    lines = [
        f'{number},{number % 7},{"abc"[number % 3]},"{text}"' for number, (text, _) in enumerate(texts(count))
    ]
    path.write_text("\n".join(["id,hour,sender,message", *lines, ""]))
    return path


def begin(folder: Path, count: int = 120, **given: object) -> Project:
    table = write_table(folder / "messages.csv", count)
    project = Project(folder / "messages.csv.journal")
    settings = ProjectSettings(CLASSES, **({"positive": "spam", "budget": 60} | given))  # type: ignore[arg-type]
    project.begin(corpus.read(str(table), classes=CLASSES), settings)
    return project


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """People wait for the learner for as long as it takes, which may have kernels to compile."""
    monkeypatch.setattr(session_module, "_PATIENCE", 300.0)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with begin(tmp_path) as found:
        yield found


@pytest.fixture
def session(project: Project) -> Iterator[LabellingSession]:
    found = LabellingSession(project)
    found.start()
    yield found
    found.close()


def text_of(session: LabellingSession, item: Item) -> str:
    return str(session.project.store.document(item).fields["message"])


def answer(session: LabellingSession, count: int, client: str = "tab", annotator: str = "ann") -> list[Item]:
    """Label so many documents truthfully."""
    done = []
    for _ in range(count):
        found = session.next(client, annotator)
        if found is None:
            break
        session.label(client, annotator, found[0], truth(text_of(session, found[0])))
        done.append(found[0])
    return done
