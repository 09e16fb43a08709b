"""The tables of the joint flow."""

import numpy as np

from steelyard.learn import joint_l2_solvers


def test_the_nodes_integrate_polynomials_of_twice_their_number() -> None:
    nodes, weights = np.array(joint_l2_solvers.NODES), np.array(joint_l2_solvers.radau_integrals())
    for power in range(2 * len(nodes) - 1):
        assert abs(weights[-1] @ nodes**power * (power + 1) - 1.0) < 4e-16
    for power in range(len(nodes)):
        np.testing.assert_allclose(weights @ nodes**power, nodes ** (power + 1) / (power + 1), atol=1e-16)


def test_the_factors_multiply_to_the_integrals() -> None:
    d, r = map(np.array, joint_l2_solvers.radau_factors())
    np.testing.assert_array_equal(d, np.tril(d))
    np.testing.assert_array_equal(r, np.triu(r))
    assert (np.diag(r) == 1.0).all()
    assert (np.diag(d) > 0.0).all()
    np.testing.assert_allclose(d @ r, joint_l2_solvers.radau_integrals(), rtol=1e-13, atol=1e-16)


def test_sweeps_leave_less_than_a_third_whatever_the_stiffness() -> None:
    d, r = map(np.array, joint_l2_solvers.radau_factors())
    one = np.eye(len(d))
    for stiffness in np.logspace(-3, 8, 200):
        sweep = np.linalg.solve(one + stiffness * d, stiffness * d @ (one - r))
        assert np.abs(np.linalg.eigvals(sweep)).max() < 1.0 / 3.0


def test_the_start_is_that_of_the_polynomial() -> None:
    nodes = np.array(joint_l2_solvers.NODES)
    polynomial = np.polynomial.Polynomial([3.0, -2.0, 0.5, 1.0, -4.0, 2.0])
    weights = np.array(joint_l2_solvers.radau_tables()[-2])
    assert abs(weights @ polynomial(nodes) - polynomial(joint_l2_solvers.PROBE)) < 1e-12


def test_the_end_by_the_other_nodes() -> None:
    nodes = np.array(joint_l2_solvers.NODES)
    polynomial = np.polynomial.Polynomial([3.0, -2.0, 0.5, 1.0, -4.0])
    assert (
        abs(np.array(joint_l2_solvers.radau_tables()[-1]) @ polynomial(nodes[:-1]) - polynomial(1.0)) < 1e-12
    )
