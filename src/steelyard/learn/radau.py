"""Radau's nodes on (0, 1], and what a polynomial through them is elsewhere: tables for the joint flow."""

import math
from fractions import Fraction

NODES = (
    0.03980985705146874,
    0.19801341787360818,
    0.43797481024738615,
    0.6954642733536361,
    0.9014649142011736,
    1.0,
)

PROBE = 1e-4 * NODES[0]  # all but the start

Matrix = list[list[float]]


def tables() -> tuple[tuple[float, ...], Matrix, Matrix, float, list[float], list[float]]:
    """The nodes, D, R, PROBE, what gives the value there, and what the last node's value by the others."""
    return NODES, *factors(), PROBE, extrapolation(NODES, PROBE), extrapolation(NODES[:-1], NODES[-1])


def integrals() -> Matrix:
    """A[i][j]: the integral from 0 to node i of the polynomial that is 1 at node j and 0 at the others.

    By exact arithmetic. The rows sum to the nodes, and an error there would be one of every step.
    """
    nodes = [Fraction(node) for node in NODES]
    columns = []
    for node in nodes:
        polynomial = [Fraction(1)]  # its coefficients, lowest first
        for other in nodes:
            if other != node:
                raised, lowered = [Fraction(0), *polynomial], [*(-other * c for c in polynomial), Fraction(0)]
                polynomial = [(a + b) / (node - other) for a, b in zip(raised, lowered, strict=True)]
        columns.append([sum(c * end ** (k + 1) / (k + 1) for k, c in enumerate(polynomial)) for end in nodes])
    return [[float(column[i]) for column in columns] for i in range(len(NODES))]


def factors() -> tuple[Matrix, Matrix]:
    """A = D·R: D lower triangular, R upper triangular with ones on its diagonal."""
    a = integrals()
    size = len(a)
    d = [[0.0] * size for _ in range(size)]
    r = [[float(i == j) for j in range(size)] for i in range(size)]
    for k in range(size):
        for i in range(k, size):
            d[i][k] = a[i][k] - math.fsum(d[i][j] * r[j][k] for j in range(k))
        for i in range(k + 1, size):
            r[k][i] = (a[k][i] - math.fsum(d[k][j] * r[j][i] for j in range(k))) / d[k][k]
    return d, r


def extrapolation(nodes: tuple[float, ...], to: float) -> list[float]:
    """The weights with which the values at the nodes give the polynomial's value elsewhere."""
    return [math.prod((other - to) / (other - node) for other in nodes if other != node) for node in nodes]
