"""Table 2: the labels that each approach needs for a given error, relative to passive learning."""

from collections.abc import Mapping, Sequence

import numpy as np

from paper.studies.active.figure import NAMES
from paper.studies.active.hulls import BASELINE, LEVELS, NEVER, Needed, Shuffle, needed
from paper.studies.active.trials import CONSTANTS, UPDATES
from paper.study import ReportTable, Scope


def table(found: Mapping[str, Sequence[Shuffle]], scope: Scope) -> ReportTable:
    heads = ["data set", "error at most", "constants", *NAMES.values()]
    rows = []
    for name, several in found.items():
        for level in LEVELS:
            error = np.mean([each.stated(level) for each in several])
            for constants in CONSTANTS:
                passive = needed(several, constants, BASELINE, level)
                cells = [_cell(needed(several, constants, way, level), passive) for way in UPDATES]
                rows.append([name, f"{error:.2%} ({level:g} ×)", constants, share(passive.middle), *cells])
    spread = scope.choose(
        " The figures are medians of three shuffles, those in brackets the least and the largest fraction.",
        "",
    )
    return ReportTable(heads, rows, _CAPTION + spread, "active_trials")


_CAPTION = (
    "**Table 2.** The smallest fraction of labels with which one of the 1,980 settings of an update came to "
    "the error, and by what the labels of passive learning for the same error are divided so: ÷ 5 is a fifth "
    "of its labels, ÷ 0.5 twice as many. The errors are 1.3 and 1.1 times the least of passive learning."
)


def share(fraction: float) -> str:
    return "never" if fraction == NEVER else f"{100.0 * fraction:.3g} %"


def _cell(found: Needed, passive: Needed) -> str:
    if found.middle == NEVER:
        return "never"
    low, high = min(found.fractions), max(found.fractions)
    spread = f" ({share(low)} – {share(high)})" if low < high else ""
    return f"{share(found.middle)}{spread}, ÷ {passive.times(found):.2g}"
