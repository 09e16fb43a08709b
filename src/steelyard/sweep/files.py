"""Files as rows for a sweep: read once where they fit, and their labels in the terms of every loss."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from steelyard.examples import Examples
from steelyard.features.names import Names
from steelyard.io import label_inference, sources
from steelyard.io.input_spec import InputSpec
from steelyard.io.labels import LabelRule, rule
from steelyard.io.stream import Stream
from steelyard.losses import Loss, by_name, class_labels
from steelyard.sweep import plan
from steelyard.sweep.rows import Chunks


def in_terms_of_all(
    reading: InputSpec, labels: Sequence[str], losses: Sequence[Loss], path: str, said: str | None = None
) -> tuple[InputSpec, int]:
    """The reading for a sweep over these losses, and the number of classes; 0 for labels that are numbers.

    Classes are read as 0 and 1, and every loss then has labels of its own for them. `labels` are those of the
    first rows; `said` is what the user says of them, as in "ham,spam".
    """
    if said is None and label_inference.loss_for(labels) != label_inference.TWO_CLASSES:
        for loss in losses:
            label_inference.rule_for(labels, loss, path)  # raises if it needs classes
        return replace(reading, label_rule=None), 0
    for loss in losses:
        class_labels(loss)  # raises if it has none
    if said is not None:
        return replace(reading, label_rule=rule(said, 0.0, 1.0)), 2
    found = label_inference.rule_for(labels, by_name(label_inference.TWO_CLASSES), path) or LabelRule(
        "-1", "1"
    )
    return replace(reading, label_rule=replace(found, low=0.0, high=1.0)), 2


def in_terms_of(reading: InputSpec, loss: Loss) -> InputSpec:
    """The same files for a model of one loss."""
    if reading.label_rule is None:
        return reading
    low, high = class_labels(loss)
    return replace(reading, label_rule=replace(reading.label_rule, low=low, high=high))


class Files:
    """The files of a sweep. `stream` is the latest opened: it knows what was skipped, and how far it is."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        reading: InputSpec,
        *,
        names: Names | None = None,
        threads: int = 1,
        skip: bool = False,
    ) -> None:
        self.paths = sources.expand(paths)
        self.reading = reading
        self.names = names
        self.stream: Stream | None = None
        self._threads = threads
        self._skip = skip

    def rows(self, holdout: int | None, memory: int) -> Chunks:
        """With so many bytes for the sweep as a whole."""
        # Arrow rows lie in the file itself, which is theirs only as long as it is open
        keep = 0 if self.reading.format == "arrow" else plan.for_rows(memory)
        return Chunks(self._chunks, holdout, keep=keep, share=self._share)

    def open(self, reading: InputSpec | None = None, loss: Loss | None = None) -> Stream:
        """From the beginning, for a sweep or for a model of one loss."""
        reading = reading or self.reading
        self.stream = Stream(
            self.paths,
            reading.reader(self.names),
            names=self.names,
            loss=loss,
            label_rule=reading.label_rule,
            propensities=reading.propensities,
            weight_factor=reading.weight_factor,
            threads=self._threads,
            skip=self._skip,
        )
        return self.stream

    def identity(self) -> dict[str, Any]:
        """What a state has to agree with: the files by name and size, and how they are read."""
        sizes = [Path(path).stat().st_size if Path(path).is_file() else None for path in self.paths]
        return {"files": [self.paths, sizes], "way of reading": self.reading.as_json()}

    def _chunks(self) -> Iterator[Examples]:
        if self.stream is not None and any(map(sources.once_only, self.paths)):
            raise ValueError(
                "standard input and pipes can be read once only, and this one is larger than the memory for "
                "rows: save it to a file, or allow more memory"
            )
        for parsed in self.open():
            yield parsed.examples

    def _share(self) -> float:
        size = None if self.stream is None else self.stream.size
        return self.stream.position / size if self.stream is not None and size else 0.0
