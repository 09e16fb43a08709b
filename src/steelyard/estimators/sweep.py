"""`Sweep`: every point of a grid learned in one pass, as a meta-estimator."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from steelyard.distributed.engines import TaskEngine
from steelyard.engine import holdout as held_out_rows
from steelyard.engine.holdout import Holdout
from steelyard.engine.row_sources import Rows, RowsInMemory
from steelyard.estimators import _sweep_inputs, fit_passes
from steelyard.estimators.fitted import DocumentationLink, all_or_nothing, unchanged_on_error
from steelyard.estimators.online import OnlineEstimator
from steelyard.estimators.parameters import SWEPT, swept
from steelyard.sweep import grid as grids
from steelyard.sweep import plan
from steelyard.sweep.grid import Expanded
from steelyard.sweep.results import Results
from steelyard.sweep.search import Search


def _has(method: str) -> Any:
    """Make a check whether the winner has this method, or, before there is one, the estimator."""

    def check(self: "Sweep") -> bool:
        getattr(getattr(self, "best_estimator_", self.estimator), method)
        return True

    return check


class Sweep(DocumentationLink, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """All combinations of a grid, learned side by side in one pass over the rows; docs/sweeps.md explains it.

    Parameters
    ----------
    estimator : OnlineClassifier or OnlineRegressor
        What is learned with every combination; its other parameters hold for all.
    param_grid : dict of lists, or list of such dicts
        The values of parameters to combine.
    holdout : int or float, optional
        Do not learn every Nth row, or a random share such as 0.2; compare by these rows. By default
        progressive figures are compared.
    scoring : str, optional
        The figure that decides, one of the columns of `results_`.
    refit : bool, default=True
        Whether the best combination then learns all rows, as `best_estimator_`.
    n_jobs : int, optional
        Threads; None and -1: one on every core.
    memory : int or str, optional
        The most memory for models and rows, such as "2GB".
    state : path, optional
        A file for the state of the search, from which an interrupted search continues.
    engine : str or object, optional
        For `fit_files`: learn blocks of settings side by side on a cluster; see `DistributedClassifier`.
    verbose : int, default=0
        1 shows the plan and a bar on standard error.

    Attributes
    ----------
    results_ : Results
        The figures of each combination.
    cv_results_ : dict of arrays
        The same as `GridSearchCV` has them.
    best_index_ : int
        The place of the best combination in `results_`.
    best_params_ : dict
        The parameters of the best combination.
    best_score_ : float
        Its score.
    best_estimator_ : OnlineClassifier or OnlineRegressor
        The estimator with these parameters, fitted to all rows; the sweep predicts with it.
    classes_ : array
        Of a classifier.
    n_features_in_ : int
        The number of features.
    notes_ : list of str
        Which combinations were left out because they make no difference.

    Examples
    --------
    >>> import numpy as np
    >>> from steelyard import OnlineClassifier, Sweep
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.where(X[:, 0] > X[:, 1], "ham", "spam")
    >>> grid = {"learning_rate": [0.1, 1.0], "update": ["explicit", "invariant"]}
    >>> sweep = Sweep(OnlineClassifier(), grid, holdout=5).fit(X, y)
    >>> len(sweep.cv_results_["params"]), sweep.score(X, y) > 0.9
    (4, True)
    """

    _page = "sweeps"
    results_: Results
    best_estimator_: OnlineEstimator

    def __init__(
        self,
        estimator: OnlineEstimator,
        param_grid: grids.Grid,
        *,
        holdout: int | float | None = None,
        scoring: str | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        state: str | Path | None = None,
        engine: str | TaskEngine | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.holdout = holdout
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.memory = memory
        self.state = state
        self.engine = engine
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the rows with every combination; then, if `refit`, all of them with the best one alone.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit` of the estimator.
        """
        with unchanged_on_error(self):
            self._forget()
            expanded, template = self._expanded(), self._template()
            prepared = _sweep_inputs.prepare(template, X, y, sample_weight, holdout=self._holdout())
            # progressive figures are of the first pass: further passes would not change the results
            several = self.holdout is not None and all(
                point.settings.scaling == "standardized" for point in expanded.points
            )
            weights = prepared.examples.sample_weight[prepared.learned]
            passes = fit_passes.in_memory(template, weights, several=several)
            orders = _sweep_inputs.draw_orders(template, prepared, passes)
            order_of = None if orders is None else orders.__getitem__
            rows = RowsInMemory(prepared.examples, self._holdout(), order_of)
            identity = _sweep_inputs.identify(prepared.examples, orders)
            known = prepared.examples.features, prepared.classes, passes, identity
            search = self._search(expanded, rows, *known)
            self._run(search, expanded)
            self._take_over(template)
            if self.refit:
                best = clone(self.estimator).set_params(**self.best_params_)
                self.best_estimator_ = best.fit(X, y, sample_weight=sample_weight)
        return self

    def fit_files(self, paths: str | Path | Sequence[str | Path], **read_options: Any) -> Self:
        """`fit`, for files.

        Parameters
        ----------
        paths, **read_options
            As for `fit_files` of the estimator.
        """
        with unchanged_on_error(self):
            self._forget()
            expanded, template = self._expanded(), self._template()
            listed = [paths] if isinstance(paths, str | Path) else list(paths)
            losses = [point.settings.loss for point in expanded.points]
            files = _sweep_inputs.open_files(
                self, template, listed, losses, read_options, self._threads() or 1,
                holdout=self._holdout(), refit=self.refit,
            )  # fmt: skip
            self._run(self._search_files(expanded, files, fit_passes.in_files(template)), expanded)
            self.input_spec_ = files.spec
            self.n_features_in_ = files.spec.features
            if self.refit:
                best = clone(self.estimator).set_params(**self.best_params_)
                self.best_estimator_ = _sweep_inputs.refit_files(best, files)
            if is_classifier(template):
                self.classes_ = files.labels.class_names
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the rows in order, once, with every combination; continues earlier calls, not `fit`.

        The winner is the model with the best progressive figures so far, as it is: rows are not kept, so
        it cannot be trained again. All models are in memory at once.

        Parameters
        ----------
        X, y, classes, sample_weight
            As for `partial_fit` of the estimator.
        """
        with all_or_nothing(self):
            if self.holdout is not None:
                raise ValueError(
                    "partial_fit does not hold rows out, since it does not keep them to measure the models "
                    "at the end; leave out holdout, and compare by the progressive loss"
                )
            sweep = getattr(self, "_stream_sweep", None)
            if sweep is None:
                named = getattr(self, "classes_", None) if classes is None else classes
                sweep = _sweep_inputs.begin(self._template(), self._expanded(), named)
                self._check_comparable(sweep.empty_results(self.scoring))
            elif self._expanded().points != sweep.points:
                raise ValueError(
                    "the grid, or what the estimator has beside it, is not as it was when partial_fit began: "
                    "its models cannot become others; set it back, or begin with a new Sweep"
                )
            sweep.learn(X, y, sample_weight, threads=self._threads(), memory=plan.memory_of(self.memory))
            self._stream_sweep = sweep
            self._conclude(sweep.results(self.scoring), sweep.notes)
            self._take_over(sweep.template)
            if self.refit:
                self.best_estimator_ = sweep.estimator(self.best_index_)
        return self

    def _template(self) -> OnlineEstimator:
        if not isinstance(self.estimator, OnlineEstimator):
            raise TypeError(
                f"a sweep is over OnlineClassifier or OnlineRegressor; got {self.estimator!r}. "
                "In a pipeline, put the sweep where they would be"
            )
        if self.estimator.early_stopping:
            raise ValueError(
                "a sweep learns all settings equally often: name the passes instead of early_stopping"
            )
        template: OnlineEstimator = clone(self.estimator)
        return template

    def _expanded(self) -> Expanded:
        template = self._template()
        return grids.expand(lambda params: swept(template, params), self.param_grid, SWEPT)

    def _holdout(self) -> Holdout:
        return held_out_rows.parse(self.holdout)

    def _threads(self) -> int | None:
        """Return the number of threads; None, also given as −1, for one on every core."""
        if self.n_jobs is not None and self.n_jobs < 1 and self.n_jobs != -1:
            raise ValueError(f"n_jobs must be None, -1 or a number of threads; got {self.n_jobs!r}")
        return None if self.n_jobs == -1 else self.n_jobs

    def _search(self, expanded: Expanded, rows: Rows, *known: Any) -> Search:
        if self.engine is not None:
            raise ValueError("engine is for files, which every worker reads: use fit_files, or leave it out")
        return Search(expanded.points, rows, **self._search_options(*known))

    def _search_files(self, expanded: Expanded, files: Any, passes: int) -> Search:
        """`files` are a `sweep.files.SweepFiles`."""
        common = self._search_options(files.spec.features, files.classes, passes, files.identity())
        common |= {"own_units": files.spec.features_with_own_units()}
        if self.engine is None:
            return Search(expanded.points, files.rows(self._holdout(), common["memory"]), **common)
        from steelyard.sweep.cluster import ClusterSearch

        return ClusterSearch(expanded.points, files, self.engine, holdout=self._holdout(), **common)

    def _search_options(
        self, features: int, classes: int, passes: int, identity: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "features": features, "classes": classes, "passes": passes, "memory": plan.memory_of(self.memory),
            "threads": self._threads(), "select": self.scoring, "state": self.state,
            "identity": identity | {"rows held out": self._holdout()},
        }  # fmt: skip

    def _run(self, search: Search, expanded: Expanded) -> None:
        self._check_comparable(search.results)
        with _sweep_inputs.watching(search, self.verbose) as watch:
            results = search.run(watch)
        self._conclude(results, expanded.notes)

    def _check_comparable(self, results: Results) -> None:
        if self.refit and not results.comparable:
            raise ValueError(
                "losses of different kinds cannot be compared, so there is no best one to refit: "
                "sweep over one loss at a time, or say refit=False"
            )

    def _conclude(self, results: Results, notes: list[str]) -> None:
        self.results_ = results
        self.notes_ = notes
        if results.comparable and (self.refit or results.compared):
            self.best_index_ = results.best_index
            self.best_params_ = results.points[self.best_index_].params
            self.best_score_ = float(results.score[self.best_index_])

    def _take_over(self, template: OnlineEstimator) -> None:
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(template, name):
                setattr(self, name, getattr(template, name))

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") or name == "_stream_sweep"]:
            delattr(self, name)

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The columns of `results_`, with score and rank also under the names of `GridSearchCV`."""
        if "results_" not in vars(self):
            raise AttributeError("Sweep has no cv_results_ before it is fitted")
        columns = self.results_.columns
        return columns | {"mean_test_score": columns["score"], "rank_test_score": columns["rank"]}

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The prediction of the best estimator.

        Parameters
        ----------
        X : array, sparse matrix or frame
            Numbers.
        """
        predicted: NDArray[Any] = self._winner().predict(X)
        return predicted

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Call `decision_function` of the best estimator."""
        values: NDArray[np.float64] = self._winner().decision_function(X)
        return values

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Call `predict_proba` of the best estimator."""
        values: NDArray[np.float64] = self._winner().predict_proba(X)
        return values

    @available_if(_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Call `score` of the best estimator: accuracy, or R²."""
        return float(self._winner().score(X, y, sample_weight=sample_weight))

    def _winner(self) -> Any:
        check_is_fitted(self, "results_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("there is no best_estimator_ with refit=False: fit one with best_params_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags
