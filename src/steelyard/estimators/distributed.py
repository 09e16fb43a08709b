"""`DistributedClassifier`: a classifier whose files are learned on a cluster."""

import tempfile
from pathlib import Path
from typing import Any, Self

from sklearn.base import BaseEstimator

from steelyard import model_file
from steelyard.distributed.engines import TaskEngine, connect
from steelyard.distributed.training import DistributedTraining, plan_of
from steelyard.engine import file_training
from steelyard.engine.file_labels import CLASSES
from steelyard.engine.run_options import RunOptions
from steelyard.estimators import file_fitting, fit_passes
from steelyard.estimators.classifier import OnlineClassifier
from steelyard.estimators.parameters import settings_of


class DistributedClassifier(BaseEstimator):  # type: ignore[misc]
    """Learn files in parts, side by side on a cluster, and merge the models after every round.

    After `fit_files` it answers as the fitted classifier, `estimator_`, does: `predict`, `predict_proba`,
    `predict_files`, `save` and all others. The model depends on files, parts and rounds, not on workers.

    Parameters
    ----------
    estimator : OnlineClassifier, optional
        How each part learns; by default `OnlineClassifier()`.
    engine : str or object
        "local" (processes of this machine; "local:4" for four), "ray", "ray://HOST:PORT", "dask",
        "dask://HOST:PORT", or an object with the methods of `steelyard.distributed.engines.TaskEngine`.
    parts : int, optional
        How many parts learn side by side; by default 8, and fewer, down to 4, where there are fewer than 64
        files. (Of fewer than 8 files, 2.)
    rounds : int, optional
        How often a pass is merged; by default 8 times, of more than 8 parts 16 times, or as often as there
        are files for.
    by : {"gradients", "mean"}
        How much each part counts for a coefficient when models are merged.

    Examples
    --------
    >>> from steelyard import DistributedClassifier, OnlineClassifier
    >>> DistributedClassifier(OnlineClassifier(passes=2), engine="local:2", parts=16).parts
    16
    """

    def __init__(
        self,
        estimator: OnlineClassifier | None = None,
        *,
        engine: str | TaskEngine = "local",
        parts: int | None = None,
        rounds: int | None = None,
        by: str = "gradients",
    ) -> None:
        self.estimator = estimator
        self.engine = engine
        self.parts = parts
        self.rounds = rounds
        self.by = by

    def fit_files(
        self, paths: file_fitting.Paths, *, checkpoint: str | Path | None = None, **read_options: Any
    ) -> Self:
        """Learn files in parts.

        Parameters
        ----------
        paths : path or list of paths
            Files or patterns, at least `parts` × `rounds` of them; all workers must see them.
        checkpoint : path, optional
            Where to save the model after every round. If the file exists, its run continues; it is removed
            when the run succeeds.
        **read_options
            As for `OnlineClassifier.fit_files`.
        """
        estimator = OnlineClassifier() if self.estimator is None else self.estimator
        file_fitting.check_parameters(estimator)
        expanded = file_fitting.expand(paths)
        passes = fit_passes.in_files(estimator)
        asked = self.parts, self.rounds, passes
        run = RunOptions(
            passes,
            calibrate_progressively=estimator.calibrate,
            weight_scale=estimator.weight_scale,
            early_stopping=estimator.early_stopping,
        )
        kept = None if checkpoint is None else Path(checkpoint)
        options: dict[str, Any] = {"by": self.by, "checkpoint": kept}
        settings = settings_of(estimator, None)
        if kept is not None and kept.exists():
            content = model_file.load(kept, settings[0].loss)
            training = DistributedTraining(content, plan_of(content, expanded, *asked), run, **options)
        else:
            begun = file_training.begin(
                expanded, file_fitting.reading(read_options, self, estimator), run, lambda inferred: settings,
                task=CLASSES, class_weight=estimator.class_weight,
            )  # fmt: skip
            training = DistributedTraining.begin(begun, plan_of(None, expanded, *asked), **options)
        engine = connect(self.engine) if isinstance(self.engine, str) else self.engine
        try:
            content = training.run(engine)
        finally:
            if isinstance(self.engine, str):
                engine.close()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            model_file.save(path, content)
            self.estimator_ = OnlineClassifier.load(path, loss=settings[0].loss)
        if kept is not None:
            kept.unlink(missing_ok=True)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "estimator_" not in vars(self):
            raise AttributeError(
                f"{type(self).__name__!r} has no attribute {name!r}; is it fitted? fit_files does"
            )
        return getattr(self.estimator_, name)
