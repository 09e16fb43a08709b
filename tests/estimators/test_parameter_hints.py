"""What users of scikit-learn type out of habit is answered; so are missing labels, and the HTML links."""

import inspect
from importlib import metadata
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from steelyard import ActiveClassifier, OnlineClassifier, OnlineRegressor, Settings, Sweep, losses
from steelyard.estimators import fitted
from steelyard.estimators.parameter_hints import HINTS
from tests.estimators import data


@pytest.mark.parametrize("cls", [OnlineClassifier, OnlineRegressor, ActiveClassifier])
@pytest.mark.parametrize("name", sorted(HINTS))
def test_parameters_of_scikit_learn_are_answered(cls: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"{cls.__name__} has no parameter '{name}': ") as error:
        cls(**{name: 1})
    assert HINTS[name] in str(error.value)


def test_setting_them_is_answered_too() -> None:
    with pytest.raises(ValueError, match=r"has no parameter 'alpha': use l1=… and l2=…"):
        OnlineClassifier().set_params(alpha=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        OnlineClassifier().set_params(beta=1.0)
    with pytest.raises(TypeError, match="OnlineClassifier has no parameter 'beta'"):
        OnlineClassifier(beta=1.0)  # type: ignore[call-arg]
    changed = clone(OnlineClassifier(l1=0.5)).set_params(passes=2)
    assert (changed.l1, changed.passes) == (0.5, 2)


@pytest.mark.parametrize(("name", "value"), [("rates", "flow"), ("l2_flow", "joint")])
def test_settings_that_are_gone(name: str, value: str) -> None:
    """A weight is its copies without them, so the answer is to leave them out."""
    said = f"{name!r}: it is gone, since a weight of h is exactly h copies with every setting; leave it out"
    given: dict[str, Any] = {name: value}
    for cls in (OnlineClassifier, OnlineRegressor, ActiveClassifier, Settings):
        with pytest.raises(TypeError, match=f"{cls.__name__} has no parameter {said}"):
            cls(**given)
    with pytest.raises(ValueError, match=said):
        OnlineClassifier().set_params(**given)
    with pytest.raises(ValueError, match=f"the grid has {said}"):
        Sweep(OnlineClassifier(), {name: [value]}).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize(("name", "own"), sorted(losses.ALIASES.items()))
def test_names_of_losses_elsewhere(name: str, own: str) -> None:
    assert losses.by_name(name) == losses.by_name(own)


def test_a_loss_by_its_name_in_scikit_learn() -> None:
    X, y = data.classes(100)
    named = OnlineClassifier(loss="log_loss").fit(X, y)
    np.testing.assert_array_equal(named.coef_, OnlineClassifier("logistic").fit(X, y).coef_)
    assert named.get_params()["loss"] == "log_loss"
    for name, said in (("huber", "quantile is robust"), ("squared_hinge", "modified_huber is the same")):
        with pytest.raises(ValueError, match=f"there is no loss '{name}'; .*; {said}"):
            OnlineClassifier(loss=name).fit(X, y)


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b"],
        ["a", float("nan"), "b"],
        np.array(["a", None, "b"], dtype=object),
        np.array(["a", np.nan, "b"], dtype=object),
        [0, None, 1],
        (1.0, np.float64("nan"), 0.0),
    ],
    ids=str,
)
def test_missing_labels(labels: Any) -> None:
    with pytest.raises(ValueError, match=r"row 1 has the label (None|nan): leave out rows without a label"):
        OnlineClassifier().fit(np.eye(3), labels)


def test_missing_labels_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    for column in (pandas.Series(["a", None, "b"]), pandas.Series(["a", pandas.NA, "b"], dtype="string")):
        with pytest.raises(ValueError, match="row 1 has the label"):
            OnlineClassifier().fit(np.eye(3), column)


def test_missing_numbers() -> None:
    with pytest.raises(ValueError, match="row 1 has the label nan"):
        OnlineRegressor().fit(np.eye(3), [1.0, None, 2.0])


def test_links_to_the_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    class Described:
        def __init__(self, *entries: str) -> None:
            self.entries = entries

        def get_all(self, name: str) -> list[str] | None:
            return list(self.entries) or None

    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    estimators = (OnlineClassifier(), Sweep(OnlineClassifier(), {}), ActiveClassifier())
    named = Described("Homepage, https://a.example", "Documentation, https://docs.example/")
    for description, expected in (
        (lambda name: named, ["estimators/", "sweeps/", "active/"]),
        (lambda name: Described(), []),
        (missing, []),
    ):
        fitted._address.cache_clear()
        monkeypatch.setattr(metadata, "metadata", description)
        links = [f"https://docs.example/{page}" for page in expected] or ["", "", ""]
        assert [estimator._get_doc_link() for estimator in estimators] == links
        assert all(link in OnlineClassifier()._repr_html_() for link in links[:1])
    fitted._address.cache_clear()


@pytest.mark.parametrize("kind", [OnlineClassifier, OnlineRegressor, Sweep])
def test_every_parameter_has_a_description_in_the_picture(kind: type) -> None:
    """scikit-learn looks each one up in the docstring by its own name, so entries have one name each."""
    docscrape = pytest.importorskip("sklearn.externals._numpydoc.docscrape")
    described = docscrape.NumpyDocString(inspect.getdoc(kind))
    for section in ("Parameters", "Attributes"):
        assert not [entry.name for entry in described[section] if "," in entry.name]
    assert {entry.name for entry in described["Parameters"]} >= set(inspect.signature(kind).parameters)


def test_parameters_of_losses_and_typos_are_answered() -> None:
    with pytest.raises(TypeError, match=r"no parameter 'tau': .*losses.by_name\('quantile', tau=…\)"):
        OnlineRegressor("quantile", tau=0.9)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"OnlineRegressor has no parameter 'lerning_rate'.* 'learning_rate'"):
        OnlineRegressor(lerning_rate=0.3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"no parameter 'value'$"):  # a method of losses
        OnlineRegressor(value=0.3)  # type: ignore[call-arg]
