"""`TableScorer`: score columns for tables in memory, for the engines that hand them out in batches.

It carries paths, not models, so that it can be sent to other processes; each of them loads the models once.

    Ray Data   dataset.map_batches(TableScorer("quality.model"), batch_format="pyarrow")
    Spark      frame.mapInArrow(TableScorer("quality.model").batches, schema)
    Dask       frame.map_partitions(TableScorer("quality.model"))
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.filtering import conditions
from steelyard.filtering.conditions import Condition
from steelyard.filtering.scorer import Scorers
from steelyard.io import columns as roles
from steelyard.io.arrow_arrays import import_pyarrow
from steelyard.io.arrow_csr import NO_TEXT, ArrowBlock
from steelyard.io.errors import InputError
from steelyard.scoring.matching import require_features
from steelyard.scoring.predicting import PredictingReader, accept_any_labels

_WHERE = "the table"


class TableScorer:
    """Adds the scores of models to Arrow tables, record batches and pandas frames; or keeps some of the rows.

    Parameters
    ----------
    models : path or list of paths
        Model files that were trained on files. Scores are named after them, as by `filter_files`.
    keep : str, optional
        A condition on scores, as for `filter_files`: other rows are left out.
    text : str, optional
        The column with the text, if it is not called as in the files that the models were trained on.
    """

    def __init__(
        self, models: str | Path | Sequence[str | Path], *, keep: str | None = None, text: str | None = None
    ) -> None:
        paths = [models] if isinstance(models, str | Path) else list(models)
        self.models = [str(Path(path).resolve()) for path in paths]
        self.keep, self.text = keep, text
        self._loaded: tuple[Scorers, list[PredictingReader], Condition | None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_loaded": None}

    def __call__(self, table: Any) -> Any:
        """The table with the columns added, of the kind that it was."""
        pyarrow = import_pyarrow(_WHERE)
        if isinstance(table, pyarrow.RecordBatch):
            return next(self.batches([table]))
        if isinstance(table, pyarrow.Table):
            found = list(self.batches(table.to_batches()))
            return pyarrow.Table.from_batches(found) if found else self._extend(table)
        made = pyarrow.Table.from_pandas(table, preserve_index=False)
        rows, scores = self._score(made.combine_chunks())
        frame = table.iloc[rows]
        return frame.assign(**scores)

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One record batch after another."""
        for batch in batches:
            yield self._extend(batch)

    def scores(self, table: Any) -> dict[str, NDArray[Any]]:
        """All scores of the rows of an Arrow table or batch, by name."""
        scorers, readers, _ = self._load()
        pyarrow = import_pyarrow(_WHERE)
        whole = table.combine_chunks().to_batches() if isinstance(table, pyarrow.Table) else [table]
        if not whole:  # a table without rows
            whole = [pyarrow.RecordBatch.from_pylist([], table.schema)]
        predictions = []
        for scorer, reader in zip(scorers.each, readers, strict=True):
            assert scorer.spec.columns is not None
            require_features(scorer.spec.columns, table.schema.names, _WHERE)
            predictions.append(reader.predict(ArrowBlock(_WHERE, NO_TEXT, 0, rows=whole[0])))
        return scorers.score(predictions)

    def judge(self, table: Any, keep: str) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        """The scores that become columns, and which rows are kept by another condition."""
        scorers = self._load()[0]
        found = self.scores(table)
        kept = conditions.parse(keep, scorers.known)(found.__getitem__)
        return {name: found[name] for name in scorers.columns}, kept

    def text_columns(self) -> list[str]:
        """The text that each model takes; an error for one that takes anything else."""
        names: dict[str, None] = {}
        for scorer in self._load()[0].each:
            assert scorer.spec.columns is not None
            texts = scorer.spec.columns.with_role(roles.TEXT)
            if len(texts) != 1 or len(scorer.spec.columns.features) != 1:
                raise InputError(f"{scorer.model.path}: takes other features than one text")
            names[texts[0]] = None
        return list(names)

    def _score(self, table: Any) -> tuple[NDArray[np.intp], dict[str, NDArray[Any]]]:
        """Which rows are kept, and the columns to be added to these."""
        scorers, _, condition = self._load()
        taken = sorted(set(scorers.columns) & set(table.schema.names))
        if taken:
            raise InputError(f"{_WHERE} has a column {taken[0]!r} already; rename the model's file")
        found = self.scores(table)
        keep = np.ones(table.num_rows, bool) if condition is None else condition(found.__getitem__)
        return np.flatnonzero(keep), {name: found[name][keep] for name in scorers.columns}

    def _extend(self, table: Any) -> Any:
        pyarrow = import_pyarrow(_WHERE)
        rows, scores = self._score(table)
        kept = table if len(rows) == table.num_rows else table.take(pyarrow.array(rows))
        known = self._load()[0].known
        for name, values in scores.items():
            kind = pyarrow.float64() if known[name] else pyarrow.string()
            kept = kept.append_column(name, pyarrow.array(values, kind))
        return kept

    def _load(self) -> tuple[Scorers, list[PredictingReader], Condition | None]:
        if self._loaded is None:
            scorers = Scorers([Path(path) for path in self.models], text=self.text)
            for scorer in scorers.each:
                if scorer.spec.columns is None:
                    raise InputError(
                        f"{scorer.model.path}: was trained on {scorer.spec.format}, not on a table"
                    )
            specs = [replace(scorer.spec, format="parquet", dialect=None) for scorer in scorers.each]
            readers = [
                PredictingReader(accept_any_labels(spec).reader(), scorer.model.engine)
                for scorer, spec in zip(scorers.each, specs, strict=True)
            ]
            condition = None if self.keep is None else conditions.parse(self.keep, scorers.known)
            self._loaded = scorers, readers, condition
        return self._loaded
