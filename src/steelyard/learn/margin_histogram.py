"""A histogram of margins: probabilities are fitted to it in little memory, however many rows there are.

The margin of a prediction is its distance from the decision point, negative if the prediction was wrong. Bins
are uniform in m/(1 + |m|): fine around the decision, coarse for confident predictions. A bin keeps its weight
and its moment, weight times margin, so that it stands for its margins at their mean.

Time is the weight learned. When it has doubled since the current part of the histogram began, the next part
begins, and the one before the last is dropped: its predictions are from a model that knew little.
"""

import math

import numpy as np

from steelyard.native.declare import kernel
from steelyard.native.kinds import Histograms, Number, Numbers, Table

BINS = 128
WEIGHT, MOMENT = 0, 1
LAST, CURRENT = 0, 1
CLOCK, BEGAN = 0, 1
# Margins beyond this count as this: a few of them, wrong, would outweigh all others.
LARGEST = 32.0


@kernel
def add(
    predictions: Table, codes: Numbers, sample_weight: Numbers, own_class: Numbers, decision: Number,
    bins: Histograms, time: Numbers,
):  # fmt: skip
    """Count rows in the order in which they were learned; those of weight 0 do not count.

    `predictions[row, model]` were made before the row was learned. `own_class` is the class of each model of a
    setting, and `codes` are the classes of rows. `bins[setting, part, WEIGHT or MOMENT, bin]` counts all models
    of the setting together. `time` has the clock, and the clock when the current part began.
    """
    clock, began = time[CLOCK], time[BEGAN]
    models = np.uint64(len(own_class))
    for row in range(np.uint64(len(predictions))):
        h = sample_weight[row]
        if not h > 0.0:
            continue
        if clock >= 2.0 * began:
            for setting in range(len(bins)):  # slices of arrays take ten times as long to compile
                for kind in range(bins.shape[2]):
                    for b in range(BINS):
                        bins[setting, LAST, kind, b] = bins[setting, CURRENT, kind, b]
                        bins[setting, CURRENT, kind, b] = 0.0
            began = clock
        for setting in range(np.uint64(len(bins))):
            for number in range(models):
                p = predictions[row, setting * models + number]
                if math.isnan(p):  # the model has diverged
                    continue
                m = p - decision if codes[row] == own_class[number] else decision - p
                m = min(max(m, -LARGEST), LARGEST)
                index = np.uint64((m / (1.0 + abs(m)) + 1.0) * (0.5 * BINS))
                bins[setting, CURRENT, WEIGHT, index] += h
                bins[setting, CURRENT, MOMENT, index] += h * m
        clock += h
    time[CLOCK], time[BEGAN] = clock, began
