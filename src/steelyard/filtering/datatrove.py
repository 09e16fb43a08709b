"""`SteelyardFilter`: a step of a datatrove pipeline that keeps documents by the scores of models.

from steelyard.filtering.datatrove import SteelyardFilter

quality = SteelyardFilter("quality.model", keep="p[good] >= 0.9")
pipeline = [JsonlReader("corpus"), quality, JsonlWriter("kept")]
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datatrove.pipeline.filters.base_filter import BaseFilter

from steelyard.filtering.table_scorer import TableScorer
from steelyard.io.arrow_arrays import import_pyarrow

_BATCH = 1000  # documents that are scored at once


class SteelyardFilter(BaseFilter):  # type: ignore[misc, unused-ignore]
    """Keeps documents by a condition on scores, which are added to their metadata.

    Parameters
    ----------
    models : path or list of paths
        Model files whose features are one text, that of the document, whatever its column was called.
    keep : str
        The condition, as for `filter_files`, such as `"p[good] >= 0.9"`.
    exclusion_writer : DiskWriter, optional
        A writer of datatrove's for the documents that are not kept.
    batch_size : int
        How many documents are scored at once.
    """

    name = "steelyard"

    def __init__(
        self,
        models: str | Path | Sequence[str | Path],
        keep: str,
        exclusion_writer: Any = None,
        batch_size: int = _BATCH,
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        self.scorer = TableScorer(models)
        self.keep = keep

    def filter(self, doc: Any) -> bool | tuple[bool, str]:
        """Whether one document is kept."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Any]) -> list[bool | tuple[bool, str]]:
        """Whether each is kept; scores go to the metadata."""
        pyarrow = import_pyarrow("datatrove")
        texts = pyarrow.array([doc.text for doc in batch], pyarrow.string())
        names = self.scorer.text_columns()
        table = pyarrow.RecordBatch.from_arrays([texts] * len(names), names)
        scores, keep = self.scorer.judge(table, self.keep)
        for name, values in scores.items():
            for doc, value in zip(batch, values.tolist(), strict=True):
                doc.metadata[name] = value
        return [True if kept else (False, "score") for kept in keep.tolist()]
