"""The practical limit: one pass of plain gradient descent in C++, same arrays as ours, nothing else.

It solves no equation, keeps no progressive loss, counts no importance and checks nothing. It is
compiled twice, once with leave to reorder sums (as our kernels have) and once without; which of
them is faster differs between processors.
"""

import ctypes
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from benchmarks.support.generate import DataSet
from benchmarks.support.timing import Contender, clocked

# (-ffast-math itself would also make the whole process round tiny numbers to 0, the moment it is loaded.)
_REORDERED = ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno"]
_BUILDS = {"C++": [], "C++, sums reordered": _REORDERED}

_SOURCE = """
#include <cmath>
#include <cstdint>

struct Squared { static double slope(double p, double y) { return p - y; } };
struct Logistic { static double slope(double p, double y) { return -y / (1.0 + std::exp(y * p)); } };

template <class Loss>
static void learn(int64_t rows, const int32_t* indptr, const int32_t* indices, const float* values,
                  const double* labels, double rate, float* weights, double* predictions) {
    double bias = 0.0;
    for (int64_t row = 0; row < rows; row++) {
        const int32_t start = indptr[row], end = indptr[row + 1];
        float total = 0.0f;
        for (int32_t j = start; j < end; j++) total += weights[indices[j]] * values[j];
        const double p = total + bias;
        predictions[row] = p;
        const double step = -rate * Loss::slope(p, labels[row]);
        const float s = step;
        for (int32_t j = start; j < end; j++) weights[indices[j]] += s * values[j];
        bias += step;
    }
}

#define EXPORT(name, Loss)                                                                      \\
    extern "C" void name(int64_t rows, const int32_t* indptr, const int32_t* indices,           \\
                         const float* values, const double* labels, double rate,                \\
                         float* weights, double* predictions) {                                 \\
        learn<Loss>(rows, indptr, indices, values, labels, rate, weights, predictions);         \\
    }
EXPORT(squared, Squared)
EXPORT(logistic, Logistic)
"""


def compiler() -> str | None:
    """The C++ compiler of this machine, if it has one."""
    return shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++") or shutil.which("clang++")


def names() -> list[str]:
    """What the contenders are called."""
    return list(_BUILDS)


def contenders(data: DataSet, loss: str, rate: float) -> list[Contender]:
    """One for each build; none without a compiler."""
    if compiler() is None:
        return []
    return [clocked(name, lambda name=name: learn(data, loss, rate, name)) for name in _BUILDS]  # type: ignore[misc]


def learn(data: DataSet, loss: str, rate: float, build: str = "C++") -> tuple[Any, Any]:
    """One pass from zero; the weights and the prediction of each row from before it was learned."""
    weights = np.zeros(data.rows.shape[1], np.float32)
    predictions = np.empty(data.rows.shape[0])
    rows = data.rows
    arrays = (rows.indptr, rows.indices, rows.data, data.labels)
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    getattr(_library(build), loss)(
        ctypes.c_int64(rows.shape[0]), *addresses, ctypes.c_double(rate),
        ctypes.c_void_p(weights.ctypes.data), ctypes.c_void_p(predictions.ctypes.data),
    )  # fmt: skip
    return weights, predictions


@cache
def _library(build: str) -> ctypes.CDLL:
    folder = Path(mkdtemp(prefix="steelyard-bench-"))
    source, library = folder / "loop.cpp", folder / "loop.so"
    source.write_text(_SOURCE)
    options = ["-O3", "-march=native", *_BUILDS[build], "-shared", "-fPIC"]
    subprocess.run([str(compiler()), *options, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    shutil.rmtree(folder)
    return loaded
