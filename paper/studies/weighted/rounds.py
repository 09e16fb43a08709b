"""The steps on boosting: AdaBoost reweights the rows in each round, and our classifier learns them."""

from sklearn.ensemble import AdaBoostClassifier

from paper import data
from paper.studies.weighted import learning, sets
from paper.study import Row, Step
from steelyard import OnlineClassifier

TABLE = "boosting"
ADULT, PLACES = "adult", ("rcv1", "spam")
UPDATES = ("explicit", "invariant")
ROUNDS = 40


def step(name: str, seed: int, rows: int, rates: tuple[float, ...]) -> Step:
    digest, called = (sets.digest(name), name) if name == ADULT else (data.digest(name), data.name(name))
    inputs = {"data": digest, "seed": seed, "rows": rows, "rates": rates}
    return Step(TABLE, f"{called} {seed}", inputs, lambda: _boost(name, seed, rows, rates))


def _boost(name: str, seed: int, rows: int, rates: tuple[float, ...]) -> list[Row]:
    found = sets.load(name) if name == ADULT else data.load(name)
    train, test = (part[:rows] for part in found.split(seed))
    matrix, labels, unseen, truth = (
        found.matrix[train],
        found.labels[train],
        found.matrix[test],
        found.labels[test],
    )
    results: list[Row] = []
    for update in UPDATES:
        for rate in rates:
            base = learning.classifier(update, rate).set_params(weight_scale="mean_one")
            boosted = AdaBoostClassifier(base, n_estimators=ROUNDS, random_state=seed)
            with learning.large_weights():
                boosted.fit(matrix, labels)
            errors = [1.0 - float(score) for score in boosted.staged_score(unseen, truth)]
            results += [
                {"data": found.name, "seed": seed, "approach": update, "rate": rate, "round": number,
                 "error": errors[min(number, len(errors)) - 1], "stopped": len(errors),
                 "largest_weight": max(map(_largest, boosted.estimators_))}
                for number in range(1, ROUNDS + 1)
            ]  # fmt: skip
    return results


def _largest(member: OnlineClassifier) -> float:
    return member.weight_summary_.largest
