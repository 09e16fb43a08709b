"""`LoadedModel`: a model file ready to score, with the names of its classes as files write them."""

from dataclasses import dataclass
from pathlib import Path

from steelyard import model_file
from steelyard.engine import file_labels, probabilities
from steelyard.engine.file_rows import spec_of
from steelyard.engine.protocol import Engine, restore
from steelyard.io import formats
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.losses import Loss
from steelyard.model_file import ModelFile


@dataclass(frozen=True)
class LoadedModel:
    """A model file, ready to score."""

    path: Path
    content: ModelFile
    engine: Engine
    class_names: list[str] | None

    @property
    def loss(self) -> Loss:
        return self.engine.settings[0].loss

    @property
    def has_probabilities(self) -> bool:
        return self.class_names is not None and (
            self.content.calibration is not None or probabilities.has_probabilities(self.loss)
        )

    @property
    def feature_names(self) -> dict[int, str]:
        """By index; of a model fitted in Python, those of its columns."""
        if self.content.names is not None:
            return self.content.names.by_index()
        columns = self.content.feature_names
        return {} if columns is None else dict(enumerate(map(str, columns.tolist())))

    def spec(self) -> InputSpec:
        """How it reads files; an error for a model that does not know."""
        return spec_of(self.content, self.path)


def load(path: Path, loss: type[Loss] | None = None) -> LoadedModel:
    """`loss` is that of a model that was trained with a user's own."""
    try:
        content = model_file.load(path, loss)
    except ValueError as error:
        if formats.by_suffix(str(path)) is None:
            raise
        raise InputError(f"{error}; the model comes before the files") from None
    return loaded(path, content)


def loaded(path: Path, content: ModelFile) -> LoadedModel:
    """The content of a model file, ready to score."""
    spec = None if content.spec is None else spec_of(content, path)
    return LoadedModel(path, content, restore(content.engine), _class_names(content, spec))


def _class_names(content: ModelFile, spec: InputSpec | None) -> list[str] | None:
    """As they are written in the files: 1.0 may be a class."""
    names = file_labels.class_names_of(content, spec)
    if names is None or spec is None or spec.converted or spec.label_rule is None:
        return None if names is None else list(map(str, names.tolist()))
    return list(spec.label_rule.names)
