"""Functions of one prediction and one label, for a whole column of predictions."""

from steelyard.numba_tools.jit import kernel


@kernel
def fill(function, predictions, label, out):
    """out = function(prediction, label), one by one; the function is a pointer."""
    for row in range(len(predictions)):
        out[row] = function(predictions[row], label)


@kernel
def fill_pairs(function, predictions, labels, out):
    """out = function(prediction, its label), one by one."""
    for row in range(len(predictions)):
        out[row] = function(predictions[row], labels[row])
