"""`FileMethods`: `fit_files` and `partial_fit_files`. Readers are imported when one of them is called."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.estimators.fitted import unchanged_on_error


class FileMethods:
    """For estimators with an engine."""

    verbose: int

    def _forget(self) -> None:
        """What the next fit finds out anew."""

    def fit_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        shuffle: bool = False,
        holdout: int | float | None = None,
        on_error: str = "stop",
        threads: int | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | None = None,
        calibrate: bool = False,
        verbose: int | None = None,
        **read_options: Any,
    ) -> Self:
        """Learn files from scratch in order, `passes` times ("auto": once), as `steelyard train` does.

        Parameters
        ----------
        paths : file, pattern or list of them
            Vowpal Wabbit text, svmlight, CSV, TSV, Excel, JSON lines, Parquet or Arrow, plain or compressed.
        shuffle : bool
            Learn the rows in an order drawn from `random_state`, a different one in every pass: for files
            sorted by label. (The estimator's own parameter is for rows in memory.) All rows are read first,
            into memory, or into temporary files if they are larger than 2 GiB.
        holdout : int or float, optional
            Do not learn every Nth row, or a share such as 0.2 drawn from `random_state`; the loss of these
            rows is `held_out_loss_`.
        on_error : {"stop", "skip"}
            What to do with a line that cannot be read.
        threads : int, optional
            Number of parsing threads. By default one for each core, at most 4.
        checkpoint : path, optional
            Save the run there every `checkpoint_every` rows, by default a million. If the file exists,
            continue from it; it is removed when the run succeeds.
        calibrate : bool
            Calibrate `predict_proba` on the held-out rows instead of on progressive predictions.
        verbose : int, optional
            1 shows a progress bar on standard error. By default as the estimator's.
        **read_options
            How to read the files, as the options of `steelyard train`: `format`, `label`, `weight`, `text`,
            `category`, `number`, `ignore`, `tag`, `offset`, `propensity`, `count`, `positives`, `labels`,
            `interactions`, `bits`, `words`, `characters`, `repeated`, `separator`, `header`, `weight_factor`,
            `names`. The rest is inferred from the first rows.

        Returns
        -------
        self
        """
        from steelyard.estimators import file_fitting

        with unchanged_on_error(self):
            self._forget()
            options = file_fitting.FileOptions(
                holdout, on_error, threads, checkpoint, checkpoint_every, self._verbose(verbose), shuffle
            )
            file_fitting.fit(self, paths, options, read_options, calibrate=calibrate)
        return self

    def partial_fit_files(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        shuffle: bool = False,
        holdout: int | float | None = None,
        on_error: str = "stop",
        threads: int | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | None = None,
        verbose: int | None = None,
        **read_options: Any,
    ) -> Self:
        """Learn more files in order, once, continuing from the current model.

        Files are read as the first ones were, so `read_options` are only for the first call. If anything goes
        wrong, the estimator does not change. Calibration on held-out rows does not change either.

        Parameters
        ----------
        paths, shuffle, holdout, on_error, threads, checkpoint, checkpoint_every, verbose, **read_options
            As for `fit_files`.

        Returns
        -------
        self
        """
        from steelyard.estimators import file_fitting

        with unchanged_on_error(self):
            options = file_fitting.FileOptions(
                holdout, on_error, threads, checkpoint, checkpoint_every, self._verbose(verbose), shuffle
            )
            file_fitting.partial_fit(self, paths, options, read_options)
        return self

    def _verbose(self, given: int | None) -> int:
        return self.verbose if given is None else given

    def _file_predictions(
        self, paths: str | Path | Sequence[str | Path], text: str | None, on_error: str, threads: int | None
    ) -> NDArray[np.float64]:
        from steelyard.estimators import file_fitting

        return file_fitting.predict(self, paths, text, on_error, threads)
