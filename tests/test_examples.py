"""Bad input is refused with its row and value; good input is neither changed nor copied."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from steelyard import losses
from steelyard.examples import examples

MATRIX = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 5.0, 6.0]]))


def damaged(entry: int = 3, **changes: float) -> sparse.csr_array:
    """The matrix with one of its numbers changed behind SciPy's back."""
    matrix = MATRIX.copy()
    for name, value in changes.items():
        getattr(matrix, name)[entry] = value
    return matrix


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_must_be_finite(value: float, dtype: type) -> None:
    for form in (damaged(data=value).astype(dtype), damaged(data=value).toarray().astype(dtype)):
        with pytest.raises(
            ValueError,
            match=f"row 2 has the feature value {value} in column 0: values must be finite, not NaN",
        ):
            examples(form)


def test_values_must_have_finite_squares() -> None:
    with pytest.raises(
        ValueError, match=r"row 2 has the feature value -1e\+200 in column 0: its square overflows"
    ):
        examples(damaged(data=-1e200))
    with pytest.raises(ValueError, match=r"row 0 has the feature value 1.*e.30 in column 0: its square"):
        examples(np.array([[1e30]], dtype=np.float32))


def test_the_column_of_a_bad_value_is_named() -> None:
    for row, column in ((0, 2), (1, 1), (2, 0), (2, 2)):
        dense = MATRIX.toarray()
        dense[row, column] = np.nan
        for form in (dense, sparse.csr_array(dense)):
            with pytest.raises(ValueError, match=f"row {row} has the feature value nan in column {column}: "):
                examples(form)


@pytest.mark.parametrize("index", [-1, 3, 1000])
def test_indices_must_be_in_bounds(index: int) -> None:
    with pytest.raises(ValueError, match=f"row 2 has the feature index {index}: the matrix is 3 wide"):
        examples(damaged(indices=index))


@pytest.mark.parametrize(
    "changes", [{"entry": 0, "indptr": 1}, {"entry": 1, "indptr": 5}, {"entry": 3, "indptr": 99}]
)
def test_row_pointers_must_make_sense(changes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="the sparse matrix is damaged"):
        examples(damaged(**changes))


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_importances_must_be_finite_and_not_negative(weight: float) -> None:
    with pytest.raises(ValueError, match=f"row 1 has the weight {weight}: weights must be finite"):
        examples(MATRIX, np.zeros(3), [1.0, weight, 1.0])


def test_labels_must_be_in_the_set_of_the_loss() -> None:
    with pytest.raises(ValueError, match=r"row 2 has the label 0\.0: Hinge loss takes -1 or 1"):
        examples(MATRIX, [1.0, -1.0, 0.0], loss=losses.Hinge())
    takes = "Logarithmic loss takes 0 or 1, or a number between 0 and 1"
    with pytest.raises(ValueError, match=rf"row 0 has the label 1\.5: {takes}"):
        examples(MATRIX, [1.5, 0.5, 0.0], loss=losses.Logarithmic())
    with pytest.raises(ValueError, match="row 1 has the label nan: labels must be finite"):
        examples(MATRIX, [1.0, np.nan, 0.0])
    assert len(examples(MATRIX, [1.0, 0.5, 0.0], loss=losses.Hellinger())) == 3


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"there are 3 rows but labels of shape \(2,\)"):
        examples(MATRIX, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"there are 3 rows but importance weights of shape \(3, 1\)"):
        examples(MATRIX, np.zeros(3), np.ones((3, 1)))
    with pytest.raises(ValueError, match="the rows have 3 features, the model 4"):
        examples(MATRIX, features=4)
    with pytest.raises(ValueError, match="must be a matrix of two dimensions, one row an example; got 1"):
        examples(np.zeros(3))
    with pytest.raises(ValueError, match="features must be numbers, not object"):
        examples(np.array([["a", None]], dtype=object))


def test_well_formed_input_is_not_copied() -> None:
    dense = np.ones((4, 3), dtype=np.float32)
    assert np.shares_memory(examples(dense).values, dense)
    csr = sparse.csr_array((MATRIX.data, MATRIX.indices.astype(np.int32), MATRIX.indptr), MATRIX.shape)
    rows = examples(csr)
    assert np.shares_memory(rows.values, csr.data)
    assert np.shares_memory(rows.indices, csr.indices)


def test_duplicates_are_summed_in_a_copy() -> None:
    csr = sparse.csr_array(([1.0, 2.0, 4.0, 8.0], [2, 0, 2, 1], [0, 3, 4]), (2, 3))
    rows = examples(csr)
    assert dict(zip(rows.indices[:2].tolist(), rows.values[:2].tolist(), strict=True)) == {0: 2.0, 2: 5.0}
    assert csr.data.tolist() == [1.0, 2.0, 4.0, 8.0]
    assert csr.indices.tolist() == [2, 0, 2, 1]


def test_unsorted_rows_without_duplicates_are_taken_as_they_are() -> None:
    csr = sparse.csr_array(([1.0, 2.0, 3.0], [2, 0, 1], [0, 2, 3]), (2, 3))
    assert examples(csr).indices.tolist() == [2, 0, 1]


def test_other_formats_and_types() -> None:
    for form in (
        MATRIX.tocsc(),
        MATRIX.tocoo(),
        MATRIX.toarray().astype(int),
        MATRIX.toarray().astype(">f8"),
    ):
        rows = examples(form)
        assert rows.values.sum() == 21.0
        assert rows.values.dtype == np.float64
    assert len(examples(np.empty((0, 5)))) == 0
    read_only = MATRIX.toarray()
    read_only.flags.writeable = False
    assert examples(read_only).values.sum() == 21.0


@pytest.mark.parametrize("form", [MATRIX, MATRIX.toarray()])
def test_kernels_meet_what_was_given(form: Any) -> None:
    columns = np.arange(3.0), np.arange(1.0, 4.0), np.ones(3)
    labels, sample_weight, offsets = columns
    rows = examples(form, labels, sample_weight, offsets=offsets)
    for array, given in zip(rows.targets, columns, strict=True):
        assert np.shares_memory(array, given)
    assert examples(form).offsets_array.tolist() == []
    apart = np.arange(6.0)[::2]
    assert [each.tolist() for each in examples(form, apart, apart + 1.0, offsets=apart).targets] == [
        [0.0, 2.0, 4.0], [1.0, 3.0, 5.0], [0.0, 2.0, 4.0]
    ]  # fmt: skip


def test_rows_in_another_order() -> None:
    order = np.array([2, 0])
    for form in (MATRIX, MATRIX.toarray()):
        rows = examples(form, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).take(order)
        assert len(rows) == 2
        assert rows.labels.tolist() == [3.0, 1.0]
        assert rows.sample_weight.tolist() == [6.0, 4.0]
        assert rows.values[:3].tolist() == [4.0, 5.0, 6.0]


def test_bases() -> None:
    rows = examples(MATRIX, offsets=[1.0, 2.0, 3.0]).take(np.array([1, 0]))
    assert rows.offsets is not None
    assert rows.offsets.tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="row 1 has the offset nan: offsets must be finite"):
        examples(MATRIX, offsets=[0.0, float("nan"), 0.0])


@pytest.mark.parametrize("kind", [np.int32])
def test_taking_rows_keeps_the_kind_of_indices(kind: type) -> None:
    """Or kernels would be compiled anew in the middle of a stream."""
    matrix = sparse.csr_array(np.eye(4))
    matrix.indices = matrix.indices.astype(kind)
    taken = examples(matrix).take(np.array([2, 0]))
    assert taken.indices.dtype == kind
    assert taken.indptr.dtype == np.int64
    assert taken.indices.tolist() == [2, 0]


def test_a_matrix_may_be_too_wide() -> None:
    width = (1 << 31) + 1
    one = np.ones(1), np.array([width - 1]), np.array([0, 1])
    with pytest.raises(ValueError, match=r"2,147,483,649 wide: there may be 2,147,483,6\d\d features"):
        examples(sparse.csr_array(one, (1, width)))


def test_a_matrix_with_fewer_values_than_indices_is_refused() -> None:
    """Kernels would read what lies behind."""
    matrix = sparse.csr_array(np.ones((5, 1)))
    matrix.data = matrix.data[:3].copy()
    with pytest.raises(ValueError, match="the sparse matrix is damaged"):
        examples(matrix)


@pytest.mark.parametrize("kind", [np.uint32, np.int16, np.float64, ">i4"])
def test_indices_of_a_strange_type_are_refused(kind: Any) -> None:
    matrix = sparse.csr_array(np.ones((5, 1)))
    matrix.indices = matrix.indices.astype(kind)
    with pytest.raises(ValueError, match="the sparse matrix is damaged"):
        examples(matrix)


def test_arrays_of_a_matrix_may_have_gaps() -> None:
    table = np.arange(10.0).reshape(5, 2)
    indices = np.zeros((5, 2), np.int32)[:, 0]
    matrix = sparse.csr_array((table[:, 0], indices, np.arange(6)), (5, 1))
    np.testing.assert_array_equal(examples(matrix).values, table[:, 0])
