"""What the paper leaves open, and what we chose."""

from paper import data, feature_values
from paper.study import Part, ReportTable, Scope, Step, Study, Tables

_CHOICES = (
    (
        "train and test rows",
        "sizes not given; webspam's test set is the last 50,000 rows of the training file",
        "an official split; webspam's last 50,000 rows; else a fifth of the rows",
        "–",
    ),
    (
        "row order, seeds",
        "one pass in the order of the file, one run",
        "shuffled with seeds 0, 1, 2",
        "all three are in the rows",
    ),
    (
        "features",
        "spam is not tf-idf, the others seem to be",
        "{features}",
        "the other features: Tables 3 and 4",
    ),
    (
        "bias",
        "not mentioned",
        "none, as in the formulas",
        "with a bias: Tables 3 and 4",
    ),
    (
        "label coding",
        "0/1 by the link, ±1 in the appendix",
        "±1, decision at 0",
        "not run: without a bias 0/1 starts every row in class 0",
    ),
    (
        "the link in the gradient",
        "not said",
        "clipped: slope σ(p) − y",
        "plain squared loss: Table 2",
    ),
    (
        "c₁, c₂ of the query probability",
        "not given",
        "practice: 1 and 1",
        "theory, 5 + 2√2 and 5: Table 2, Figure 1",
    ),
    (
        "1/P learned with",
        "∫η or hη, not said",
        "∫η; multiplication hη",
        "not run",
    ),
    (
        "flip importance",
        "the rate frozen at η",
        "the same",
        "–",
    ),
    (
        "the typical passive run",
        "not said",
        "the median, by labels, of the runs that reach the stated error",
        "the best at every look, in hindsight: Table 2",
    ),
    (
        "stated accuracies",
        "1.05 to 1.79 times the least error",
        "the same ratios",
        "–",
    ),
    (
        "“best” in Table 4",
        "of the same update, or of all: not said",
        "of the same update",
        "of both: Table 4",
    ),
    (
        "panels of Figures 2 and 3",
        "data set and loss not said",
        "a data set each, all losses",
        "–",
    ),
    (
        "running times",
        "none given",
        "measured",
        "what an update costs",
    ),
)


class Choices(Study):
    """The open choices, in one table."""

    name = "choices"
    title = "What the paper leaves open"
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        return []

    def part(self, tables: Tables, scope: Scope) -> Part:
        features = ", ".join(
            f"{data.name(place)} {feature_values.describe(place, feature_values.AS_PAPER)}"
            for place in data.PLACES
        )
        rows = [[what, paper, ours.format(features=features), other] for what, paper, ours, other in _CHOICES]
        heads = ["choice", "the paper", "here", "the other choice"]
        return Part([ReportTable(heads, rows, "Every choice that a reproduction has to make.", "")])
