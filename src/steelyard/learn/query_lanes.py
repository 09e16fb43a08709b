"""Many active learners side by side: each decides which labels to query, and learns those rows.

Laid out as in `lanes`. All lanes see the same rows and the same random numbers, one for each row: a lane
queries the label if the number is below its probability. The policy of a lane and its parameter give the
probability:

- BY_IMPORTANCE (IWAL): P follows from the flip importance of the prediction and the parameter C₀; weight 1/P.
- AT_RANDOM: the parameter itself; weight 1.
- NEAR_THE_MARGIN: 1 if the prediction is at most the parameter away from the boundary, else 0; weight 1.

Every row counts in k, queried or not.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learn.batched_loss import (
    CHANGE,
    INITIAL_T,
    POWER_T,
    PUSH,
    ROWS,
    TIME,
    WIDTH,
    H,
    P,
    T,
    U,
    Y,
    address,
    fill_board,
)
from steelyard.learn.lane_ops import dots, move, squares
from steelyard.learn.lanes import ALIVE, LANE_STATE_SIZE, LIMIT, predict_all
from steelyard.learn.linear import BIAS, CLOCK, SCALE
from steelyard.learn.query_probability import probability as probability_of
from steelyard.native.declare import kernel, part
from steelyard.native.kinds import (
    Bytes,
    Count,
    Counts,
    Ints,
    Number,
    Numbers,
    OnBoard,
    Places,
    Switch,
    Table,
    Values,
    WeightCube,
    Weights,
)
from steelyard.native.memory import flat_view

BY_IMPORTANCE, AT_RANDOM, NEAR_THE_MARGIN = range(3)
ASKED, ASKING_STATE_SIZE = LANE_STATE_SIZE, LANE_STATE_SIZE + 1


class Rule(NamedTuple):
    """How each lane decides and learns.

    `steps[i]`, `times[i]` and `pushes[i]` belong to the update of the lanes from `bounds[i]` to `bounds[i + 1]`;
    `frozen` fills in the current rates.
    """

    rates: Numbers
    initial_t: Numbers
    power_t: Numbers
    policies: Counts
    parameters: Numbers
    c1: Number
    c2: Number
    floor: Number
    row_norm: Switch
    bias_value: Number
    low: Number
    high: Number
    boundary: Number
    bounds: Counts
    steps: Places
    times: Places
    pushes: Places
    frozen: OnBoard


class Scratch(NamedTuple):
    """Buffers: for each lane a column of the board, a sum, a move and a probability; for each vector, if any asks."""

    board: Table
    sums: Weights
    moves: Weights
    probability: Numbers
    some: Bytes


def scratch_for(weights: NDArray[Any]) -> Scratch:
    lanes = weights.shape[2]
    sums, moves = np.zeros((2, lanes), weights.dtype)
    return Scratch(np.zeros((ROWS, lanes)), sums, moves, np.zeros(lanes), np.zeros(lanes // WIDTH, np.uint8))


@kernel
def learn(
    indptr: Counts, indices: Ints, values: Values, dense: Switch, rows: Counts, labels: Numbers,
    draws: Numbers, first_k: Count, weights: WeightCube, state: Table, rule: Rule, scratch: Scratch,
):  # fmt: skip
    """Let every lane decide on the rows in turn and learn those it queries; `first_k` rows came before."""
    rates, initial_t, power_t, policies, parameters, c1, c2, floor = rule[:8]
    row_norm, bias_value, low, high, boundary, bounds, steps, times, pushes, frozen = rule[8:]
    lanes = np.uint64(weights.shape[2])
    lane_count = np.int64(lanes)
    flat = flat_view(weights)
    board, totals, moves, probability, some = scratch
    for k in range(lanes):
        board[INITIAL_T, k] = initial_t[k]
        board[POWER_T, k] = power_t[k]
    for turn in range(np.uint64(len(rows))):
        row = np.uint64(rows[turn])
        start, end = np.uint64(indptr[row]), np.uint64(indptr[row + np.uint64(1)])
        base = start if dense else np.uint64(0)
        n = bias_value + squares(start, end, values, flat)
        dots(start, end, base, indices, values, flat, lanes, lanes, totals)
        predict_all(lanes, totals, state, bias_value, 0.0, board)
        _to_the_boundary(lanes, board, state, low, high, boundary)
        frozen(address(board), lane_count, np.int64(0), lane_count)  # the current rates into PUSH
        fill_board(times, board, bounds)
        reach = 1.0 if row_norm else n
        _fill_probabilities(
            lanes, board, rates, reach, first_k + turn + 1, policies, parameters, c1, c2, floor, boundary,
            probability,
        )  # fmt: skip
        if not _ask(lanes, board, state, draws[turn], probability, policies, labels[turn], some) or n == 0.0:
            continue
        fill_board(pushes, board, bounds)
        for k in range(lanes):
            board[U, k] = reach * rates[k] * board[PUSH, k]
        fill_board(steps, board, bounds)
        _decide(lanes, board, n, bias_value, state, moves)
        for v in range(len(some)):
            if some[v]:
                first = np.uint64(v) * np.uint64(WIDTH)
                move(start, end, base, indices, values, flat, lanes, first, first + np.uint64(WIDTH), moves)


@part
def _to_the_boundary(lanes, board, state, low, high, boundary):
    """Set the label against each prediction, and the change that takes the prediction to the boundary."""
    for k in range(lanes):
        p = board[P, k]
        board[Y, k] = low if p > boundary else high
        board[CHANGE, k] = boundary - p
        board[T, k] = state[CLOCK, k]
        board[H, k] = 1.0


@part
def _fill_probabilities(
    lanes, board, rates, reach, k, policies, parameters, c1, c2, floor, boundary, probability
):
    """Fill in the query probability of each lane, by its policy."""
    growth = math.log(k) / (k - 1.0) if k > 1 else 1.0
    for lane in range(lanes):
        given = parameters[lane]
        g = board[TIME, lane] / (reach * rates[lane] * board[PUSH, lane]) / k if reach > 0.0 else 0.0
        by_importance = max(probability_of(g, given * growth, c1, c2), floor) if k > 1 else 1.0
        near = 1.0 if abs(board[P, lane] - boundary) <= given else 0.0
        otherwise = given if policies[lane] == AT_RANDOM else near
        probability[lane] = by_importance if policies[lane] == BY_IMPORTANCE else otherwise


@part
def _ask(lanes, board, state, draw, probability, policies, label, some):
    """Set weights, labels and clocks of the lanes that query; returns whether any does, and fills in `some`."""
    anybody = np.uint64(0)
    for v in range(len(some)):
        asked = np.uint64(0)
        first = np.uint64(v) * np.uint64(WIDTH)
        for k in range(first, first + np.uint64(WIDTH)):
            asks = draw < probability[k]
            asks = asks and state[ALIVE, k] > 0.0
            h = 1.0 / probability[k] if policies[k] == BY_IMPORTANCE else 1.0
            h = h if asks else 0.0
            board[H, k] = h
            board[Y, k] = label
            state[CLOCK, k] += h
            state[ASKED, k] += 1.0 if asks else 0.0
            asked |= np.uint64(asks)
        some[v] = asked
        anybody |= asked
    return anybody > 0


@part
def _decide(lanes, board, n, bias_value, state, moves):
    """Set the factor of x by which the weights of each lane move."""
    for k in range(lanes):
        s = board[CHANGE, k] / n if board[U, k] > 0.0 else 0.0
        state[ALIVE, k] = state[ALIVE, k] if abs(s) < LIMIT else 0.0
        s = s if state[ALIVE, k] > 0.0 else 0.0
        state[BIAS, k] += s * bias_value
        moves[k] = s / state[SCALE, k]
