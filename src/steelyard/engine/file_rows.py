"""`FileRows`: the rows of files, for a run that may read them several times. `spec_of`: how a model reads files."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard import weight_summary
from steelyard._parameters import Message, Parameter
from steelyard.engine.holdout import Holdout
from steelyard.engine.ordered_sums import add_by_place
from steelyard.engine.row_sources import RowsInChunks
from steelyard.engine.shuffled_rows import ShuffledRows
from steelyard.examples import Examples, join
from steelyard.features import Names
from steelyard.io import grouped_rows, input_spec, sources
from steelyard.io.errors import InputError
from steelyard.io.input_spec import InputSpec
from steelyard.io.stream import Stream
from steelyard.losses import Loss, class_labels
from steelyard.model_file import ModelFile
from steelyard.weight_summary import WeightSummary

LOOKED_AT = 1000  # rows with a weight that show whether weights are counts


class FileRows:
    """The rows of files, which are opened anew for each pass; `stream` is the latest opened.

    `loss` checks labels that are not numbers of classes; `class_factors` multiply the weights of rows, by the
    number of their class (the second of two is that with the larger label). With `weight_scale` "auto", weights
    are brought nearer to 1 if the first ones make no sense as counts.
    """

    def __init__(
        self,
        paths: Sequence[str],
        spec: InputSpec,
        *,
        names: Names | None = None,
        loss: Loss | None = None,
        class_factors: NDArray[np.float64] | None = None,
        threads: int = 1,
        skip: bool = False,
        weight_scale: str = "as_given",
    ) -> None:
        self.paths = list(paths)
        self.spec = spec
        self.names = names
        self.loss = loss
        self.class_factors = class_factors
        self.threads = threads
        self.skip = skip
        self.first_stream: Stream | None = None
        self.stream: Stream | None = None
        self.weight_scale = weight_scale
        self.first_weights: WeightSummary | None = None
        """A summary of the weights of the first rows, once these were inspected."""
        self.factor = 1.0
        """The factor of weights that they suggest, beside the factor of the spec."""
        self._before = (0, 0)

    @property
    def read(self) -> tuple[int, int]:
        """The rows and bytes read in this run, over all passes, for its speed."""
        if self.stream is None:
            return self._before
        return self._before[0] + self.stream.rows, self._before[1] + self.stream.position

    def shuffled(self, seed: int, holdout: Holdout) -> ShuffledRows:
        """Return the rows in a random order, with rows held out in passing: the same as in the order of files."""
        return self._in_drawn_order(seed, holdout, in_passing=True)

    def spread(self, holdout: Holdout, memory: int) -> ShuffledRows:
        """Return rows with counts, spread in random order, with the rows held out left aside."""
        return self._in_drawn_order(0, holdout, memory=memory)

    def _in_drawn_order(
        self, seed: int, holdout: Holdout, *, in_passing: bool = False, memory: int | None = None
    ) -> ShuffledRows:
        rows = RowsInChunks(self._copied_chunks, holdout, in_passing=in_passing, together=self._together)
        return ShuffledRows(rows, seed, memory, apart=self.spec.counted)

    @property
    def _together(self) -> int:
        return grouped_rows.ROWS if self.spec.counted else 1

    def rows(self, holdout: Holdout, *, in_passing: bool = False, keep: int = 0) -> RowsInChunks:
        """Return the rows in order; `keep` bytes of them stay in memory for later passes."""
        # see `_copied_chunks`
        keep = 0 if self.spec.format == "arrow" else keep
        return RowsInChunks(
            self._chunks,
            holdout,
            in_passing=in_passing,
            keep=keep,
            share=self._share,
            together=self._together,
        )

    def open(self) -> Stream:
        """Open the files from the beginning."""
        self._before = self.read
        spec = self.spec
        self.stream = Stream(
            self.paths,
            spec.reader(self.names),
            names=self.names,
            loss=self.loss,
            label_rule=spec.label_rule,
            propensities=spec.propensities,
            weight_factor=spec.weight_factor,
            counted=spec.counted,
            threads=self.threads,
            skip=self.skip,
            encoding=spec.encoding,
        )
        self.first_stream = self.first_stream or self.stream
        return self.stream

    def identity(self) -> dict[str, Any]:
        """Return what a saved state must agree with: the files by name and size, and how they are read."""
        sizes = [Path(path).stat().st_size if Path(path).is_file() else None for path in self.paths]
        return {"files": [self.paths, sizes], "way of reading": self.spec.as_json()}

    def class_totals(self, classes: int, holdout: Holdout) -> NDArray[np.float64]:
        """Return the weight of each class in the rows to learn, by reading the files once more."""
        self.check_readable_again(Message(Parameter("class_weight", "balanced"), " counts the classes first"))
        totals = np.zeros(classes)
        for piece in self._without_names().rows(holdout).pieces(0):
            rows: Any = slice(None) if piece.order is None else piece.order
            labels, weights = piece.examples.labels[rows], piece.examples.sample_weight[rows]
            codes = self.class_codes(labels[weights > 0.0], classes)
            totals = add_by_place(totals, codes, weights[weights > 0.0])
        return totals

    def check_readable_again(self, why: str) -> None:
        for path in self.paths:
            if sources.once_only(path):
                name = "standard input" if path == sources.STANDARD_INPUT else path
                raise ValueError(Message(f"{name} can be read only once, and ", why, ": save it to a file"))

    def _chunks(self) -> Iterator[Examples]:
        if self.stream is not None and any(map(sources.once_only, self.paths)):
            raise ValueError(
                "standard input and pipes can be read only once, and this one is larger than the memory for "
                "rows: save it to a file, or allow more memory"
            )
        for examples in self._scaled(parsed.examples for parsed in self.open()):
            if self.class_factors is not None:
                codes = self.class_codes(np.nan_to_num(examples.labels), len(self.class_factors))
                yield replace(examples, sample_weight=examples.sample_weight * self.class_factors[codes])
            else:
                yield examples

    def _copied_chunks(self) -> Iterator[Examples]:
        """Yield chunks that outlive the file: the arrays of Arrow rows are the file itself while it is open."""
        chunks = self._chunks()
        return (join([examples]) for examples in chunks) if self.spec.format == "arrow" else chunks

    def _scaled(self, chunks: Iterator[Examples]) -> Iterator[Examples]:
        """Scale weights. Always inspects `LOOKED_AT` rows with a weight first, whatever the size of blocks."""
        waiting: list[Examples] = []
        if self.weight_scale == "auto" and self.first_weights is None:
            first = np.zeros(0)
            for examples in chunks:
                waiting.append(examples)
                first = np.append(first, examples.sample_weight[examples.sample_weight > 0.0])
                if len(first) >= LOOKED_AT:
                    break
            self.first_weights = weight_summary.summarise(first[:LOOKED_AT])
            with np.errstate(over="ignore"):  # weights that add up to infinity are noticed in the model
                self.factor = weight_summary.factor_for(first[:LOOKED_AT])
        for examples in chain(waiting, chunks):
            if self.factor == 1.0:
                yield examples
            else:
                yield replace(examples, sample_weight=examples.sample_weight * self.factor)

    def look_at_weights(self) -> None:
        """Find the factor of weights, if it is wanted, before the first row is learned."""
        if self.weight_scale == "auto":
            next(self._scaled(parsed.examples for parsed in self._without_names().open()), None)

    def _without_names(self) -> "FileRows":
        return FileRows(self.paths, self.spec, loss=self.loss, threads=self.threads, skip=self.skip)

    def class_codes(self, labels: NDArray[np.float64], classes: int) -> NDArray[np.int64]:
        """Return the number of each label's class: the label itself, or for two classes 0 or 1."""
        if classes > 2:
            return labels.astype(np.int64)
        rule = self.spec.label_rule
        if rule is not None:
            middle = 0.5 * (rule.low + rule.high)
        else:
            assert self.loss is not None
            middle = 0.5 * sum(class_labels(self.loss))
        return (labels > middle).astype(np.int64)

    def _share(self) -> float:
        size = None if self.stream is None else self.stream.size
        return self.stream.position / size if self.stream is not None and size else 0.0


def spec_of(stored: ModelFile, path: str | Path) -> InputSpec:
    """Return how a model reads files; an InputError for one that has learned rows in Python only."""
    if stored.spec is None:
        raise InputError(
            f"{path}: this model was fitted to rows in Python and does not know how files are read; "
            "use it there, or train it on files (steelyard train, or fit_files)"
        )
    spec = input_spec.stored_in(path, stored.spec)
    own, features = spec.features, stored.engine.features
    if own != features:
        raise InputError(f"{path}: a damaged model: its files have {own} features, itself {features}")
    return spec
