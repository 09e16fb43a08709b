"""`LoadedModel`: a model file ready to score, with the names of its classes as files write them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from steelyard import model_file
from steelyard._parameters import Parameter, message_of
from steelyard.engine import file_labels, protocol
from steelyard.engine.file_rows import spec_of
from steelyard.engine.frozen_models import FrozenModels, can_freeze, freeze
from steelyard.engine.protocol import Engine, Predicts
from steelyard.engine.single_model import SingleModel
from steelyard.io import formats
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.losses import Loss
from steelyard.model import Model
from steelyard.model_file import ModelFile
from steelyard.scoring.scores import Meaning


@dataclass(frozen=True)
class LoadedModel:
    """A model file, ready to score."""

    path: Path
    content: ModelFile
    engine: Predicts
    class_names: list[str] | None
    text: str | None = field(default=None, kw_only=True)
    """The column of the files that has the text, if it is called otherwise than when the model learned."""

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def loss(self) -> Loss:
        return self.engine.settings[0].loss

    @property
    def meaning(self) -> Meaning:
        """What its predictions mean."""
        return Meaning(self.loss, self.class_names, self.content.calibration)

    @property
    def classes_are_ordered(self) -> bool:
        """Whether the second of two classes is the one that matters: see `LabelRule.ordered`."""
        spec = self.spec()
        rule = (spec.original or spec).label_rule or spec.label_rule
        return rule is None or rule.ordered

    @property
    def feature_names(self) -> dict[int, str]:
        """The names of features by index; of a model fitted in Python, the names of its columns."""
        if self.content.names is not None:
            return self.content.names.by_index()
        columns = self.content.feature_names
        return {} if columns is None else dict(enumerate(map(str, columns.tolist())))

    def spec(self) -> InputSpec:
        """How it reads files; an error for a model that does not know."""
        spec = spec_of(self.content, self.path)
        return spec if self.text is None else with_text(spec, self.text, self.name)

    def for_text(self, column: str | None) -> Self:
        """The same for files where this column has the text; None: that of the model."""
        found = replace(self, text=column)
        if column is not None:
            found.spec()  # or an error
        return found


@dataclass(frozen=True)
class LearnedModel(LoadedModel):
    """With all that the file knows, to look at or to learn on with."""

    engine: Engine


def load(path: Path, loss: type[Loss] | None = None) -> LearnedModel:
    """`loss` is that of a model that was trained with a user's own."""
    with _model_first(path):
        return loaded(path, *protocol.load(path, loss))


def loaded(path: Path, content: ModelFile, engine: Engine) -> LearnedModel:
    """The content of a model file and its engine, ready to score."""
    spec = None if content.spec is None else spec_of(content, path)
    return LearnedModel(path, content, engine, _class_names(content, spec))


def load_to_predict(path: Path, loss: type[Loss] | None = None) -> LoadedModel:
    """The same predictions in a fraction of the memory; it knows no names of features."""
    return _load_frozen(path, loss, explaining=False)[0]


def load_to_explain(path: Path, loss: type[Loss] | None = None) -> tuple[LoadedModel, list[Model]]:
    """The same with the names of features, and the coefficients of the models that answer."""
    return _load_frozen(path, loss, explaining=True)


def _load_frozen(path: Path, loss: type[Loss] | None, *, explaining: bool) -> tuple[LoadedModel, list[Model]]:
    frozen: list[Model] = []

    def passing(models: Iterator[Model]) -> Iterator[Model]:
        for model in models:
            if explaining:
                frozen.append(freeze(model))
            yield model

    engine: Predicts | None = None
    with _model_first(path), model_file.opened(path, loss, names=explaining) as (content, stored):
        if can_freeze(content.engine):
            models = passing(stored)
            several = content.engine.models_each > 1
            engine = FrozenModels(content.engine, models) if several else SingleModel(freeze(next(models)))
    if engine is None:
        whole = load(path, loss)
        return whole, whole.engine.models() if explaining else []
    spec = None if content.spec is None else spec_of(content, path)
    return LoadedModel(path, content, engine, _class_names(content, spec)), frozen


@contextmanager
def _model_first(path: Path) -> Iterator[None]:
    """Says so if a file of rows was named where the model belongs."""
    try:
        yield
    except ValueError as error:
        if formats.by_suffix(str(path)) is None:
            raise
        raise InputError(message_of(error), "; the model comes before the files") from None


def with_text(spec: InputSpec, column: str, model: str) -> InputSpec:
    """How files are read for the model of that name if this column has the text."""
    if spec.columns is not None:
        return replace(spec, columns=spec.columns.with_text(column, model))
    if spec.original is None:
        raise InputError(
            Parameter("text", column), f": {model} was trained on {spec.format}, which has no columns"
        )
    return replace(spec, original=with_text(spec.original, column, model))


def _class_names(content: ModelFile, spec: InputSpec | None) -> list[str] | None:
    """As they are written in the files: 1.0 may be a class."""
    names = file_labels.class_names_of(content, spec)
    if names is None or spec is None or spec.converted or spec.label_rule is None:
        return None if names is None else list(map(str, names.tolist()))
    return list(spec.label_rule.names)
