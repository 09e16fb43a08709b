"""What the paper says of active learning, judged by the rows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from paper import printed, verdicts
from paper.studies.active import noise
from paper.studies.active.hulls import Place, Places, Points
from paper.studies.active.table import LINK, MAIN_CONSTANTS, distance
from paper.studies.active.trials import CONSTANTS, LINKS, PASSIVE, TRIALS
from paper.study import Claim, Pair, Row, Tally
from paper.verdicts import judge, tally

AWARE = ("implicit", "invariant")
READINGS = list(product(LINKS, CONSTANTS))
SLOWER = 3.0
"""Times the passive learner's time for a row, up to which asking counts as fast."""


def claims(found: Places, rows: Sequence[Row]) -> list[Claim]:
    return [_fewer(found), _more_than_passive(found), _fast_and_robust(rows), _link(found)]


def _fewer(found: Places) -> Claim:
    """C7."""
    labels = tally(_fewer_labels(found))
    errors = tally(_less_error(found))
    pairs = []
    for key, place in found.items():
        cells = printed.TABLE_2[key]
        ours = [place.saving((LINK, MAIN_CONSTANTS, update)) for update in ("explicit", "invariant")]
        pairs.append(Pair(key, cells.invariant / cells.explicit, ours[1] / ours[0] if ours[0] else np.inf))
    both = Tally(labels.agree + errors.agree, labels.ties + errors.ties, labels.against + errors.against)
    return Claim(
        "Figure 1",
        "With aware updates active learning needs fewer labels than with multiplication, and generalises "
        "better.",
        "labels of multiplication ÷ invariant: 16.8, 4.1, 1.7, 3.4",
        f"{', '.join(_ratio(pair.ours) for pair in pairs)}; fewer labels in {labels.agree} of "
        f"{_total(labels)} cases, lower least error in {errors.agree}, higher in {errors.against}",
        judge(both),
        f"{_against(labels)} Cases: sets, updates, links, constants.",
        f"{TRIALS} {PASSIVE}",
        7,
        both,
        pairs,
    )


def _ratio(number: float) -> str:
    return "∞" if np.isinf(number) else f"{number:.1f}"


def _against(labels: Tally) -> str:
    if labels.against:
        return f"More labels in {labels.against}, not told apart in {labels.ties}."
    return f"More labels in none; {labels.ties} not told apart." if labels.ties else "More labels in none."


def _total(found: Tally) -> int:
    return found.agree + found.ties + found.against


def _fewer_labels(found: Places) -> Iterator[int]:
    for place, (link, constants), update in product(found.values(), READINGS, AWARE):
        theirs, ours = (place.savings((link, constants, each)) for each in ("explicit", update))
        yield _all_shuffles([b - a for a, b in zip(theirs, ours, strict=True)])


def _less_error(found: Places) -> Iterator[int]:
    for place, (link, constants), update in product(found.values(), READINGS, AWARE):
        yield _all_shuffles(
            [
                float(
                    each.active[link, constants, "explicit"].errors.min()
                    - each.active[link, constants, update].errors.min()
                )
                for each in place.shuffles
            ]
        )


def _all_shuffles(gains: Sequence[float]) -> int:
    """A case counts if every shuffle says the same."""
    return verdicts.sign(min(gains), max(gains))


def _more_than_passive(found: Places) -> Claim:
    """C8, which says "can": one case suffices, and the count is told."""
    outcomes = [
        _all_shuffles([1.0 - saving for saving in place.savings((link, constants, "explicit"))])
        for place, (link, constants) in product(found.values(), READINGS)
    ]
    cases = tally(outcomes)
    pairs = [
        Pair(key, printed.TABLE_2[key].explicit, place.saving((LINK, MAIN_CONSTANTS, "explicit")))
        for key, place in found.items()
    ]
    return Claim(
        "Table 2",
        "Multiplication can make active learning need *more labels than passive learning*.",
        "passive ÷ active labels: 0.45, 1.59, 1.28, 0.54",
        f"{', '.join(_cell(pair.ours) for pair in pairs)}; below 1 in {cases.agree} of {_total(cases)} cases",
        verdicts.judge_cases(int(cases.agree > 0), 1),
        "“Can” asks for one case; the paper has 2 of 4.",
        f"{TRIALS} {PASSIVE}",
        8,
        cases,
        pairs,
    )


def _cell(saving: float) -> str:
    return f"{saving:.2f}" if saving else "never"


def _link(found: Places) -> Claim:
    """Which reading of the link is nearer to Table 2: a question of ours."""
    off = {(link, constants): float(np.exp(distance(found, link, constants))) for link, constants in READINGS}
    best = {link: min(off[link, constants] for constants in CONSTANTS) for link in LINKS}
    least = {link: ", ".join(f"{_least(place, link):.2%}" for place in found.values()) for link in LINKS}
    nearer = min(best, key=best.__getitem__)
    return Claim(
        "Table 2",
        "Which reading of the link σ(p) = max(0, min(1, p)) reproduces Table 2 better?",
        "not said",
        f"{nearer}; mean factor between our cells and the paper's: "
        + ", ".join(f"{link} {constants} {value:.2f}" for (link, constants), value in off.items()),
        verdicts.judge(Tally(0, 1, 0)),
        "The data sets differ, so this is weak evidence. Least passive errors: "
        + "; ".join(f"{link} {each}" for link, each in least.items())
        + ".",
        f"{TRIALS} {PASSIVE}",
    )


def _least(place: Place, link: str) -> float:
    return float(np.mean([each.passive[link].least for each in place.shuffles]))


def _fast_and_robust(rows: Sequence[Row]) -> Claim:
    """C16."""
    by_set: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        ways = by_set.setdefault((str(row["place"]), str(row["noise"])), {})
        ways.setdefault(str(row["way"]), []).append(row)
    slower = [_nanoseconds(ways["active"]) / _nanoseconds(ways["passive"]) for ways in by_set.values()]
    savings: dict[str, list[float]] = {kind: [] for kind in noise.NOISES}
    for (place, kind), ways in by_set.items():
        savings[kind].append(_saving(ways, printed.stated_ratio(place)))
    outcomes = [1 if saving > 1.0 else -1 for kind in noise.NOISES[1:] for saving in savings[kind]] + [
        1 if each <= SLOWER else -1 for each in slower
    ]
    cases = tally(outcomes)
    return Claim(
        "abstract",
        "The active learner is very fast and works with adversarial noise.",
        "no figure; from Beygelzimer et al. 2010",
        f"a row takes {min(slower):.1f} to {max(slower):.1f} times as long as in passive learning; with "
        f"{noise.NOISY:.0%} of the labels turned it needs one in "
        + ", ".join(f"{_range(savings[kind])} ({kind})" for kind in noise.NOISES),
        judge(cases),
        "*Adversarial*: labels of which a good model is surest. Stated errors are passive learning’s with "
        "the same noise.",
        noise.TABLE,
        16,
        cases,
    )


def _nanoseconds(rows: Sequence[Row]) -> float:
    return float(rows[0]["nanoseconds"])


def _saving(ways: Mapping[str, Sequence[Row]], ratio: float) -> float:
    """The ratio of all labels to those that active learning needs to come as near to passive learning's least error."""
    least = min(float(row["error"]) for row in ways["passive"])
    points = Points(
        *(np.array([float(row[name]) for row in ways["active"]]) for name in ("fraction", "error"))
    )
    return 1.0 / points.needed(ratio * least)


def _range(numbers: Sequence[float]) -> str:
    return f"{min(numbers):.1f}–{max(numbers):.1f}"
