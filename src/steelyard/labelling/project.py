"""`Project`: one file that has the documents, the labels and the learner's journal."""

import math
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from steelyard import model_file
from steelyard.active import strategies
from steelyard.active._damage import reading
from steelyard.active.journal import Journal
from steelyard.active.label_store import Document, LabelStore
from steelyard.active.strategies._base import MOST_LABELS
from steelyard.estimators import saving
from steelyard.estimators.active import ActiveClassifier
from steelyard.estimators.classifier import OnlineClassifier
from steelyard.examples import Examples
from steelyard.io import columns as roles
from steelyard.io.columns import Columns
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec, from_json
from steelyard.io.labels import classes, two_classes
from steelyard.labelling import document_rows
from steelyard.labelling.corpus import Corpus
from steelyard.labelling.document_rows import as_matrix, with_repeated_words
from steelyard.labelling.project_settings import ProjectSettings
from steelyard.losses import class_labels
from steelyard.model_file import EngineState, ModelFile
from steelyard.scoring.scores import Meaning

LABEL_COLUMN = "label"  # the column that a saved model looks for, unless the documents had another
_PASSES = 10  # of a model that learns another one's predictions, which it is to come close to
_BATCH = 20_000  # documents that are parsed together


class Project:
    """The file is open until `close`. With `read_only`, another process may be labelling meanwhile."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = str(path)
        self.journal = Journal(path, read_only=read_only)
        self.store = LabelStore(self.journal)
        # A label is on disk before the learner hears of it, and so is all that the file had before. What a
        # power cut takes away after that is learned again from the labels.
        self.journal.file.follows = True
        self._rows: Examples | None = None  # the items, from when they were added until the learner has them
        stored = self.store.project()
        if stored is not None:
            with reading(self.path):
                self._load(stored)

    def _load(self, stored: dict[str, Any]) -> None:
        self.spec: InputSpec = from_json(stored["spec"])
        settings = stored["settings"]
        self.settings = ProjectSettings(**settings | {"classes": tuple(settings["classes"])})

    @property
    def begun(self) -> bool:
        """Whether there are documents; a journal that Python code keeps has none."""
        return hasattr(self, "settings")

    def begin(self, corpus: Corpus, settings: ProjectSettings, audited: float | None = None) -> int:
        """Store the documents of a new project; returns the number of items.

        `audited` is the share of the labels that go to an audit, instead of a share of the documents.
        """
        assert corpus.spec.columns is not None
        texts = corpus.spec.columns.with_role(roles.TEXT)
        weighted = strategies.by_name(settings.strategy).ranks_pool or len(settings.classes) > 2
        ranked = weighted and texts == self._features(corpus.spec)
        token = secrets.token_urlsafe(18)
        settings = replace(settings, kind=corpus.kind, tfidf=settings.tfidf or ranked, token=token)
        spec = with_repeated_words(corpus.spec, "counts") if settings.tfidf else corpus.spec

        def with_audit(items: int) -> ProjectSettings:
            asked = min(settings.budget, items)
            return settings if audited is None else replace(settings, audit=audited * asked / items)

        return self._add(corpus.documents, spec, with_audit)

    def grow(self, corpus: Corpus) -> int:
        """Add documents; returns the number of items. A copy of an earlier document shares its labels."""
        assert corpus.spec.columns is not None
        lacking = [name for name in self._features(self.spec) if name not in corpus.spec.columns.names]
        if lacking:
            raise InputError(f"the new documents lack {', '.join(lacking)}, which those of the project have")
        return self._add(corpus.documents, self.spec, lambda _: self.settings)

    def _add(
        self, documents: Iterable[Document], spec: InputSpec, settings: Callable[[int], ProjectSettings]
    ) -> int:
        """Store documents, and settings that may depend on the number of items.

        They are read back as the learner's rows before it is final: with a document that cannot be learned
        from, the project would never open again.
        """
        rows: Examples | None = None

        def project(items: int) -> dict[str, Any]:
            nonlocal rows
            if not items:
                raise InputError("there are no documents")
            rows = self._read_rows(spec)
            return _stored(spec, settings(items))

        count = self.store.add_documents(documents, self._features(spec), project, time.time())
        self._load(_stored(spec, settings(count)))
        self._rows = rows
        return count

    def set_budget(self, budget: int) -> None:
        """Raise or lower the budget, at any time; the audit must remain a part of it."""
        least = math.floor(self.settings.audit * self.store.count_items()) + 1
        if not least <= budget <= MOST_LABELS:
            raise InputError(
                f"the budget is a number of labels from {least:,} to {MOST_LABELS:,}"
                f"{', since there is an audit' if least > 1 else ''}; got {budget:,}"
            )
        self.change(budget=budget)

    def change(self, **given: float | None) -> None:
        """Change target, twice or budget, at any time; None leaves one as it is."""
        changes = {name: value for name, value in given.items() if value is not None}
        settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        if settings != self.settings:
            self.store.save_project(_stored(self.spec, settings))
            self.settings = settings

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

    def _read_rows(self, spec: InputSpec) -> Examples:
        """The items as rows, made of what is stored."""
        return document_rows.parse(self.store.item_lines(_BATCH), spec, self.path)

    def classifier(self) -> ActiveClassifier:
        """The learner as the journal has it, with its pool."""
        settings, rows = self.settings, self._rows
        self._rows = None  # the pool has them
        pool = as_matrix(self._read_rows(self.spec) if rows is None else rows)
        return ActiveClassifier(
            classes=list(settings.classes), positive=settings.positive, strategy=settings.strategy,
            budget=min(settings.budget, pool.shape[0]), audit=settings.audit, random_state=settings.seed,
            tfidf=settings.tfidf,
            refit="balanced" if settings.tfidf and len(settings.classes) == 2 else None,
            journal=self.journal,
        ).pool(pool)  # fmt: skip

    def save_model(self, path: str | Path, classifier: ActiveClassifier) -> None:
        """Write a model file for all other commands; it says how to read files like that of the documents.

        A model file has no weights of rare words: where the project has them, another model is saved, which
        has learned the predictions of this one.
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
        """A model that has learned all items with people's labels or, without one, the predicted class."""
        assert classifier.pool_ is not None
        learner = classifier.learner_
        scores = Meaning(learner.labelled.settings.loss).of(learner.predict(classifier.pool_))
        said = classifier.classes_[scores.codes]
        known = classifier.learner_.labels
        codes = np.array([*known.values()], np.int64)
        if len(classifier.classes_) == 2:
            codes = (codes == class_labels(classifier.learner_.labelled.settings.loss)[1]).astype(np.int64)
        said[classifier.pool_order_[[*known]]] = classifier.classes_[codes]
        spec = with_repeated_words(self.spec, "relative")
        lacking = sorted({*classifier.classes_} - {*said})
        if lacking:
            raise InputError(f"{self.path}: no document has been labelled {' or '.join(lacking)} yet")
        fitted = OnlineClassifier(random_state=self.settings.seed, passes=_PASSES)
        fitted.fit(as_matrix(self._read_rows(spec)), said)
        return saving.describe(fitted), spec

    def close(self) -> None:
        self.store.close()
        self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stored(spec: InputSpec, settings: ProjectSettings) -> dict[str, Any]:
    """The project as its file has it."""
    return {"spec": spec.as_json(), "settings": asdict(settings)}


def _with_label(spec: InputSpec) -> Columns:
    """The columns with one for labels, so that the model can be evaluated on files that have them."""
    assert spec.columns is not None
    if spec.columns.with_role(roles.LABEL) or LABEL_COLUMN in spec.columns.features:
        return spec.columns
    others = tuple(column for column in spec.columns.columns if column.name != LABEL_COLUMN)
    return replace(spec.columns, columns=(*others, roles.Column(LABEL_COLUMN, roles.LABEL)))
