"""`Project`: one file with documents, labels and the journal of the learner; nothing else is needed."""

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from steelyard import model_file
from steelyard._parameters import Parameter
from steelyard.active import strategies
from steelyard.active._damage import reading
from steelyard.active.journal import Journal
from steelyard.active.label_store import Document, LabelStore
from steelyard.active.strategies._base import MOST_LABELS
from steelyard.estimators import saving
from steelyard.estimators.active import ActiveClassifier
from steelyard.estimators.classifier import OnlineClassifier
from steelyard.examples import Examples, join
from steelyard.io import columns as roles
from steelyard.io.blocks import Block
from steelyard.io.columns import Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec, from_json
from steelyard.io.labels import classes, two_classes
from steelyard.io.stream import Reader
from steelyard.labelling.corpus import Corpus
from steelyard.losses import class_labels
from steelyard.model_file import EngineState, ModelFile

ERROR, RECALL = "error", "recall"
DEFAULT_BUDGET = 500
LABEL_COLUMN = "label"  # that a saved model looks for, unless the documents had another
_PASSES = 10  # of a model that learns the predictions of another: near to them is what it shall come
_AT_ONCE = 20_000  # documents that are parsed together


@dataclass(frozen=True)
class ProjectSettings:
    """What is decided when a project begins. The pool may grow; budget, target and twice may change."""

    classes: tuple[str, ...]
    positive: str | None
    """The class that is looked for; None of several classes."""
    strategy: str = strategies.DEFAULT
    budget: int = DEFAULT_BUDGET
    audit: float = 0.0
    twice: float = 0.0
    """The share of documents that a second person labels, too."""
    measure: str = ERROR
    """What "may I stop?" is about: error, or recall for screening."""
    target: float = 0.05
    seed: int = 0
    kind: str = "table"
    tfidf: bool = False
    """Whether words weigh by how rare they are; with two classes, both weigh the same in refits then."""
    token: str = ""
    """In the address of the page, so that nobody else can open it."""

    def __post_init__(self) -> None:
        several = len(self.classes) > 2
        if len(set(self.classes)) < max(len(self.classes), 2) or not all(self.classes):
            raise InputError(
                f"classes {','.join(self.classes)}: two or more different names are wanted, as in ham,spam"
            )
        if several and (self.measure == RECALL or not strategies.by_name(self.strategy).several):
            raise InputError(
                f"screening looks for one of two classes, and {len(self.classes)} are named: leave out ",
                Parameter("screening"), ", and use the strategy iwal, margin or random",
            )  # fmt: skip
        if self.positive not in self.classes and not (several and self.positive is None):
            raise InputError(f"the positive class {self.positive!r} is neither {' nor '.join(self.classes)}")
        for name, share in (("twice", self.twice), ("target", self.target)):
            if not 0.0 <= share <= 1.0:
                raise InputError(f"{name} is a share, from 0 to 1; got {share}")


class Project:
    """Open until `close`. With `read_only` another process may be labelling meanwhile."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = str(path)
        self.journal = Journal(path, read_only=read_only)
        self.store = LabelStore(self.journal)
        # Labels are on disk before they are told, and with them all that was written to the file before. What
        # a power cut takes away after that is learned again from the labels.
        self.journal.follows = True
        kept = self.store.project()
        if kept is not None:
            with reading(self.path):
                self._take(kept)

    def _take(self, kept: dict[str, Any]) -> None:
        self.spec: InputSpec = from_json(kept["spec"])
        given = kept["settings"]
        self.settings = ProjectSettings(**given | {"classes": tuple(given["classes"])})

    @property
    def begun(self) -> bool:
        """Whether there are documents; a journal that Python code keeps has none."""
        return hasattr(self, "settings")

    def begin(self, corpus: Corpus, settings: ProjectSettings, audited: float | None = None) -> int:
        """Fill a new project; returns the number of items.

        `audited` is the share of the labels that an audit gets, instead of a share of the documents.
        """
        assert corpus.spec.columns is not None
        texts = corpus.spec.columns.with_role(roles.TEXT)
        weighted = strategies.by_name(settings.strategy).ranks_pool or len(settings.classes) > 2
        ranked = weighted and texts == self._features(corpus.spec)
        token = secrets.token_urlsafe(18)
        settings = replace(settings, kind=corpus.kind, tfidf=settings.tfidf or ranked, token=token)
        spec = _with_words(corpus.spec, "counts") if settings.tfidf else corpus.spec

        def settled(items: int) -> ProjectSettings:
            asked = min(settings.budget, items)
            return settings if audited is None else replace(settings, audit=audited * asked / items)

        return self._add(corpus.documents, spec, settled)

    def grow(self, corpus: Corpus) -> int:
        """Add documents; those that are there already are answered together with them."""
        assert corpus.spec.columns is not None
        lacking = [name for name in self._features(self.spec) if name not in corpus.spec.columns.names]
        if lacking:
            raise InputError(f"the new documents lack {', '.join(lacking)}, which those of the project have")
        return self._add(corpus.documents, self.spec, lambda _: self.settings)

    def _add(
        self, documents: Iterable[Document], spec: InputSpec, settings: Callable[[int], ProjectSettings]
    ) -> int:
        """With settings that may depend on the number of items: they are stored with the documents."""

        def kept(items: int) -> dict[str, Any]:
            if not items:
                raise InputError("there are no documents")
            return {"spec": spec.as_json(), "settings": asdict(settings(items))}

        checked = self._checked(documents, spec)
        count = self.store.add_documents(checked, self._features(spec), kept, time.time())
        self._take(kept(count))
        return count

    def set_budget(self, budget: int) -> None:
        """It may be raised and lowered at any time; the audit must remain a part of it."""
        least = math.floor(self.settings.audit * self.store.count_items()) + 1
        if not least <= budget <= MOST_LABELS:
            raise InputError(
                f"the budget is a number of labels from {least:,} to {MOST_LABELS:,}"
                f"{', since there is an audit' if least > 1 else ''}; got {budget:,}"
            )
        self.change(budget=budget)

    def change(self, **given: float | None) -> None:
        """What may be decided anew at any time: target, twice, the budget; None leaves one as it is."""
        now = replace(self.settings, **{name: each for name, each in given.items() if each is not None})  # type: ignore[arg-type]
        if now != self.settings:
            self.store.save_project({"spec": self.spec.as_json(), "settings": asdict(now)})
            self.settings = now

    @staticmethod
    def _features(spec: InputSpec) -> tuple[str, ...]:
        assert spec.columns is not None
        return spec.columns.features

    @property
    def texts(self) -> tuple[str, ...]:
        """The fields that are texts."""
        assert self.spec.columns is not None
        return self.spec.columns.with_role(roles.TEXT)

    @property
    def others(self) -> tuple[str, ...]:
        """The other fields that are learned."""
        return tuple(name for name in self._features(self.spec) if name not in self.texts)

    def examples(self, spec: InputSpec | None = None) -> Examples:
        """The items as rows, made of what is stored, as the project reads it or another `spec` does."""
        reader = _reader(spec or self.spec)
        return join([self._parse(reader, lines) for lines in self.store.item_fields(_AT_ONCE)])

    def _parse(self, reader: Reader, lines: list[str]) -> Examples:
        text = np.frombuffer("".join(f"{line}\n" for line in lines).encode(), np.uint8)
        parsed = reader.parse(Block(self.path, text, 0))
        if len(parsed.examples) != len(lines):
            raise InputError(f"{self.path}: some document cannot be learned from: ", parsed.notes[0].what)
        return parsed.examples

    def _checked(self, documents: Iterable[Document], spec: InputSpec) -> Iterator[Document]:
        """The documents, unless one of them could not be learned from: it would never open again."""
        reader, rest = _reader(spec), iter(documents)
        while some := list(islice(rest, _AT_ONCE)):
            self._parse(reader, [each.fields_as_json for each in some])
            yield from some

    def classifier(self) -> ActiveClassifier:
        """The learner as the journal has it, with its pool."""
        given, pool = self.settings, _matrix(self.examples())
        return ActiveClassifier(
            classes=list(given.classes), positive=given.positive, strategy=given.strategy,
            budget=min(given.budget, pool.shape[0]), audit=given.audit, random_state=given.seed,
            tfidf=given.tfidf, refit="balanced" if given.tfidf and len(given.classes) == 2 else None,
            journal=self.journal,
        ).pool(pool)  # fmt: skip

    def save_model(self, path: str | Path, classifier: ActiveClassifier) -> None:
        """A model file that every command reads; later files are read as that of the documents was.

        Files have no weights of rare words: where the project has them, another model learns what this says.
        """
        if self.settings.tfidf:
            content, spec = self._learned_from(classifier)
        else:
            models = classifier.models_
            engine, spec = EngineState([models[0].settings], models), self.spec
            if len(models) > 1:
                history = classifier.history_
                wrong = np.floor(history.prediction) != history.label
                engine.error = np.array([float(wrong[~np.isnan(history.label)].sum())])
                engine.classes, engine.alive = len(models), np.ones(len(models))
            content = ModelFile(engine, class_names=classifier.classes_)
        assert content.class_names is not None
        names = content.class_names.tolist()
        rule = classes(names)
        if len(names) == 2:
            rule = two_classes(names[0], names[1], *class_labels(content.engine.settings[0].loss))
        spec = replace(spec, label_rule=rule, columns=_with_label(spec))
        model_file.save(path, replace(content, spec=spec.as_json()))

    def _learned_from(self, classifier: ActiveClassifier) -> tuple[ModelFile, InputSpec]:
        """A model of all documents, labelled as people said or else as the classifier predicts."""
        said = classifier.predict(_matrix(self.examples()))
        known = classifier.learner_.labels
        codes = np.array([*known.values()], np.int64)
        if len(classifier.classes_) == 2:
            codes = (codes == class_labels(classifier.learner_.labelled.settings.loss)[1]).astype(np.int64)
        said[classifier._order[[*known]]] = classifier.classes_[codes]
        spec = _with_words(self.spec, "relative")
        lacking = sorted({*classifier.classes_} - {*said})
        if lacking:
            raise InputError(f"{self.path}: no document has been labelled {' or '.join(lacking)} yet")
        fitted = OnlineClassifier(random_state=self.settings.seed, passes=_PASSES)
        fitted.fit(_matrix(self.examples(spec)), said)
        return saving.describe(fitted, fitted._engine), spec

    def close(self) -> None:
        self.store.close()
        self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _matrix(rows: Examples) -> sparse.csr_matrix:
    return sparse.csr_matrix((rows.values, rows.indices, rows.indptr), (len(rows), rows.features))


def _with_label(spec: InputSpec) -> Columns:
    """The columns, one of them for labels, so that the model can be evaluated on files that have them."""
    assert spec.columns is not None
    if spec.columns.with_role(roles.LABEL) or LABEL_COLUMN in spec.columns.features:
        return spec.columns
    others = tuple(column for column in spec.columns.columns if column.name != LABEL_COLUMN)
    return replace(spec.columns, columns=(*others, roles.Column(LABEL_COLUMN, roles.LABEL)))


def _with_words(spec: InputSpec, repeated: str) -> InputSpec:
    """The same, but for how much a word counts that occurs several times."""
    return replace(spec, text=replace(spec.text, repeated=repeated))


def _reader(spec: InputSpec) -> Reader:
    """Of stored documents, which are JSON lines whatever the file was."""
    assert spec.columns is not None
    own = tuple(
        replace(column, role=column.role if column.role in roles.FEATURES else roles.IGNORE)
        for column in spec.columns.columns
    )
    columns = replace(spec.columns, columns=own)
    return InputSpec("jsonl", spec.bits, columns=columns, text=spec.text).reader()
