"""What X and y may be. Each form must give the same model, to the last bit where the numbers are the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from steelyard import OnlineClassifier, OnlineRegressor
from steelyard.estimators import inputs
from steelyard.estimators.inputs import check_matrix
from tests.estimators import data

X, Y = data.numbers(60)
X[np.abs(X) < 0.5] = 0.0
NAMES = list("abcd")


def wide_indices(X: Any) -> Any:
    csr = sparse.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def unsorted(X: Any) -> Any:
    csr = sparse.csr_array(X)
    for start, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        csr.indices[start:end] = csr.indices[start:end][::-1].copy()
        csr.data[start:end] = csr.data[start:end][::-1].copy()
    return csr


SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "64-bit indices": wide_indices,
    "csc": sparse.csc_array,
    "coo": sparse.coo_matrix,
    "lil": sparse.lil_array,
}
DENSE = {
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "objects that are numbers": lambda X: X.astype(object),
    "longdouble": lambda X: X.astype(np.longdouble),
    "other byte order": lambda X: X.astype(">f8"),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


@pytest.mark.parametrize("form", SPARSE.values(), ids=SPARSE)
def test_sparse(form: Any) -> None:
    regressor = OnlineRegressor().fit(form(X), Y)
    reference = OnlineRegressor().fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(regressor.coef_, reference.coef_, rtol=1e-12)
    np.testing.assert_allclose(regressor.predict(form(X)), reference.predict(X), rtol=1e-12)


def test_rows_in_any_order_of_features() -> None:
    regressor = OnlineRegressor(dtype="float64").fit(unsorted(X), Y)
    np.testing.assert_allclose(regressor.coef_, OnlineRegressor(dtype="float64").fit(X, Y).coef_, rtol=1e-12)


@pytest.mark.parametrize("form", DENSE.values(), ids=DENSE)
def test_dense(form: Any) -> None:
    regressor = OnlineRegressor().fit(form(X), Y)
    np.testing.assert_array_equal(regressor.coef_, OnlineRegressor().fit(X, Y).coef_)
    np.testing.assert_array_equal(regressor.predict(form(X)), OnlineRegressor().fit(X, Y).predict(X))


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int64", "uint16", "bool"])
def test_kinds_of_numbers(dtype: str) -> None:
    whole = np.abs(X).round().astype(dtype)
    given = OnlineRegressor().fit(whole, Y).coef_
    np.testing.assert_allclose(given, OnlineRegressor().fit(whole.astype(float), Y).coef_, rtol=1e-5)
    if dtype != "float16":  # SciPy has none
        same = OnlineRegressor().fit(sparse.csr_array(whole), Y).coef_
        np.testing.assert_allclose(given, same, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_read_only_memory_maps(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "X.npy", X.astype(dtype))
    np.save(tmp_path / "y.npy", Y)
    x_map, y_map = (np.load(tmp_path / name, mmap_mode="r") for name in ("X.npy", "y.npy"))
    regressor = OnlineRegressor().fit(x_map, y_map, sample_weight=np.abs(y_map))
    np.testing.assert_array_equal(
        regressor.coef_, OnlineRegressor().fit(X.astype(dtype), Y, sample_weight=np.abs(Y)).coef_
    )


@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_well_formed_is_handed_on_as_it_is(form: Any, dtype: str) -> None:
    given = form(X.astype(dtype))
    assert check_matrix(OnlineRegressor(), given, reset=True) is given


def test_text() -> None:
    texts = ["the old ham is old", "buy the spam now", "ham and eggs", "spam spam spam now"] * 5
    labels = ["ham", "spam", "ham", "spam"] * 5
    features = TfidfVectorizer().fit_transform(texts)
    assert OnlineClassifier().fit(features, labels).score(features, labels) == 1.0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
class TestFrames:
    def test_names_are_remembered_and_checked(self, frame: Any) -> None:
        table = frame({name: X[:, i] for i, name in enumerate(NAMES)})
        regressor = OnlineRegressor().fit(table, Y)
        assert regressor.feature_names_in_.tolist() == NAMES
        with pytest.raises(ValueError, match="names must be in the same order"):
            regressor.predict(table[NAMES[::-1]])
        with pytest.raises(ValueError, match="missing:\n- d"):
            regressor.partial_fit(table[NAMES[:3]], Y)

    def test_a_column_of_text_is_named(self, frame: Any) -> None:
        table = frame({"size": [1.0, 2.0], "colour": ["red", "blue"]})
        with pytest.raises(ValueError, match=r"column 'colour' holds not only numbers .*encode it"):
            OnlineRegressor().fit(table, [1.0, 2.0])

    def test_a_missing_value_is_named_by_row(self, frame: Any) -> None:
        table = frame({"size": [1.0, 2.0, None], "price": [3, 4, 5]})
        with pytest.raises(ValueError, match="row 2 has the feature value nan in column 0"):
            OnlineRegressor().fit(table, [1.0, 2.0, 3.0])

    def test_whole_numbers_and_truth_values(self, frame: Any) -> None:
        table = frame({"count": [1, 2, 3], "sold": [True, False, True], "price": [0.5, 1.5, 2.5]})
        regressor = OnlineRegressor().fit(table, [1.0, 2.0, 3.0])
        plain = OnlineRegressor().fit([[1, 1, 0.5], [2, 0, 1.5], [3, 1, 2.5]], [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(regressor.coef_, plain.coef_)

    def test_labels_and_weights_may_be_columns(self, frame: Any) -> None:
        table = frame({"x": [0.0, 1.0, 2.0], "y": ["no", "yes", "yes"], "w": [1.0, 2.0, 3.0]})
        classifier = OnlineClassifier().fit(table[["x"]], table["y"], sample_weight=table["w"])
        assert classifier.classes_.tolist() == ["no", "yes"]
        assert classifier.weight_summary_.total == 6.0


def test_a_frame_with_no_rows_is_not_blamed_on_a_column() -> None:
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        OnlineRegressor().fit(pd.DataFrame({"a": []}, dtype=float), [])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_bad_value_is_named_by_row(form: Any, value: float) -> None:
    spoiled = X.copy()
    spoiled[31, 2] = value
    with pytest.raises(ValueError, match="row 31 "):
        OnlineRegressor().fit(form(spoiled), Y)
    with pytest.raises(ValueError, match="row 31 "):
        OnlineRegressor().fit(X, Y).predict(form(spoiled))


def test_objects_complex_numbers_and_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="not compatible with arrays of bytes/strings"):
        OnlineRegressor().fit([["red"], ["blue"]], [0.0, 1.0])
    with pytest.raises(ValueError, match="Complex data not supported"):
        OnlineRegressor().fit(sparse.csr_array(X.astype(complex)), Y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        OnlineRegressor().fit(X, Y.astype(complex))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        OnlineRegressor().fit(X[0], Y)
    with pytest.raises(ValueError, match="there are 60 rows but labels of shape"):
        OnlineRegressor().fit(X, Y[:5])
    with pytest.raises(ValueError, match="X has 3 features, but OnlineRegressor is expecting 4"):
        OnlineRegressor().fit(X, Y).predict(X[:, :3])
    with pytest.raises(ValueError, match="the target y is None"):
        OnlineRegressor().fit(X, None)


def test_two_classes_that_are_coded_already_are_not_copied() -> None:
    pair, coded = (-1.0, 1.0), np.array([1.0, -1.0, 1.0])
    assert inputs.encode_pair(coded, np.array(pair), pair) is coded
    shown_once = coded.copy()
    shown_once.flags.writeable = False  # another type to a kernel, which would be compiled for it
    for column in (shown_once, np.repeat(coded, 2)[::2], coded.astype(np.int64), np.array(["b", "a", "b"])):
        found = inputs.encode_pair(column, np.unique(column), pair)
        assert found is not column
        np.testing.assert_array_equal(found, coded)
