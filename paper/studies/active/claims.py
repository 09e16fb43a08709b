"""What the paper says of active learning, judged by the rows."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np

from paper.studies.active.figure import NAMES
from paper.studies.active.hulls import BASELINE, LEVELS, Shuffle, budgets, mean_hull, needed
from paper.studies.active.trials import BUDGETS, CONSTANTS, PASSIVE, SHARES, TRIALS
from paper.study import Claim, Tables, Verdict

ShufflesByName = Mapping[str, Sequence[Shuffle]]

AWARE = ("implicit", "invariant")
ENOUGH = 3.0
"""Times as many labels as the aware updates need: what multiplication is said to waste."""


def claims(found: ShufflesByName, tables: Tables) -> list[Claim]:
    first = next(iter(found))
    easy, hard = LEVELS
    return [
        _third({first: found[first]}, easy, f"on {first}"),
        _third(found, easy, "on every data set"),
        _third(found, hard, "on every data set, near the best error there is"),
        _fewer_than_passive(found, easy),
        _fewer_than_passive(found, hard),
        _without_hindsight(found, tables),
        _beside_random(found, tables),
    ]


def verdict(judged: Iterable[bool]) -> Verdict:
    """Of many comparisons: all, some, or none of them as claimed."""
    outcomes = list(judged)
    if all(outcomes):
        return Verdict.HOLDS
    return Verdict.PARTLY if any(outcomes) else Verdict.FAILS


def _ratios(found: ShufflesByName, than: str, level: float) -> dict[tuple[str, str, str], float]:
    """How many times as many labels as each aware update the other way needs, by set and constants."""
    return {
        (name, constants, update): needed(several, constants, than, level).times(
            needed(several, constants, update, level)
        )
        for (name, several), constants, update in product(found.items(), CONSTANTS, AWARE)
    }


def _list_ratios(ratios: Mapping[tuple[str, str, str], float]) -> str:
    """By set and update: the ratios with the two constants."""
    cells: dict[str, dict[str, list[str]]] = {}
    for (name, _, update), ratio in ratios.items():
        cells.setdefault(name, {}).setdefault(NAMES[update], []).append(_times(ratio))
    return "; ".join(
        f"{name}: " + ", ".join(f"{update} {' / '.join(both)}" for update, both in of.items())
        for name, of in cells.items()
    )


def _times(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio > 0.0 else "never"


def _list_names(ways: Iterable[tuple[str, str, str]]) -> str:
    return ", ".join(f"{name} ({constants}, {update})" for name, constants, update in ways)


def _third(found: ShufflesByName, level: float, where: str) -> Claim:
    ratios = _ratios(found, "explicit", level)
    judged = verdict(ratio >= ENOUGH for ratio in ratios.values())
    missed = [way for way, ratio in ratios.items() if ratio < ENOUGH]
    why = (
        "The likely reason, not tested here: a large weight throws multiplication far past the label, so it "
        "learns well only where it asks for nearly everything, and weights are small."
        if judged is Verdict.HOLDS
        else f"Less than three times with {_list_names(missed)}. Near the best error "
        "there is, aware updates need many labels too, as Table 2 shows."
    )
    return Claim(
        "Figure 1, Table 2",
        f"With aware updates, active learning needs at most a third of multiplication's labels, {where} "
        f"(error at most {level:g} × the least of passive learning).",
        "–",
        f"the labels of multiplication over those of the update, theory / practice: {_list_ratios(ratios)}; "
        "where multiplication never comes to the error, it is taken to need all labels",
        judged,
        why,
        TRIALS,
    )


def _fewer_than_passive(found: ShufflesByName, level: float) -> Claim:
    ratios = _ratios(found, BASELINE, level)
    judged = verdict(ratio > 1.0 for ratio in ratios.values())
    missed = [way for way, ratio in ratios.items() if ratio <= 1.0]
    why = (
        "In every case."
        if judged is Verdict.HOLDS
        else f"Not with {_list_names(missed)}; the reason was not looked into."
    )
    return Claim(
        "Figure 1, Table 2",
        "With aware updates, active learning needs fewer labels than passive learning for the same error "
        f"(error at most {level:g} × the least of passive learning).",
        "–",
        f"the labels of passive learning over those of the update, theory / practice: {_list_ratios(ratios)}",
        judged,
        why,
        PASSIVE,
    )


def _without_hindsight(found: ShufflesByName, tables: Tables) -> Claim:
    """At each budget, beside the hull of the invariant update with the constants that the product has."""
    cells, behind = [], 0
    for name, several in found.items():
        points = budgets(tables, name, "budget")
        hull = mean_hull([each.active["practice", "invariant"] for each in several], np.array(points)[:, 0])
        behind += sum(error > best for (_, error), best in zip(points, hull, strict=True))
        middle = len(SHARES) // 2
        cells.append(f"{name} {points[middle][1]:.2%} beside {hull[middle]:.2%}")
    return Claim(
        "Figure 1",
        "The hull is chosen in hindsight; a budget without hindsight comes to which error?",
        "–",
        f"{SHARES[len(SHARES) // 2]:.0%} of the labels, the budget beside the hull: {'; '.join(cells)}. The "
        f"budget is behind the hull at {behind} of {len(found) * len(SHARES)} points",
        Verdict.NOTED,
        "Not only the choice differs, the learner does too: with a budget it has adaptive rates and another "
        "loss, and learns its labels again and again; the hull is of single passes with squared loss.",
        BUDGETS,
    )


def _beside_random(found: ShufflesByName, tables: Tables) -> Claim:
    pairs = {
        name: list(zip(budgets(tables, name, "budget"), budgets(tables, name, "random"), strict=True))
        for name in found
    }
    better = [asked[1] < random[1] for each in pairs.values() for asked, random in each]
    fewer = "; ".join(
        f"{name} {np.mean([asked[1] / random[1] for asked, random in each]) - 1.0:+.0%}"
        for name, each in pairs.items()
    )
    worse = [
        f"{name} ({asked[0]:.0%} of the labels)"
        for name, each in pairs.items()
        for asked, random in each
        if asked[1] >= random[1]
    ]
    judged = verdict(better)
    return Claim(
        "Figure 1",
        "Labels asked for within a budget are better than as many random ones, for the same learner.",
        "–",
        f"better at {sum(better)} of {len(better)} points; errors, the mean over budgets: {fewer}",
        judged,
        "No setting is chosen by the test error here, but the defaults were once chosen with an eye on these "
        "sets."
        if judged is Verdict.HOLDS
        else f"Not with {', '.join(worse)}; the reason was not looked into.",
        BUDGETS,
    )
