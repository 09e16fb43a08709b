"""Active learning: Figure 1, Table 2, and what a budget does without hindsight."""

from paper.studies.active import claims, figure, hulls, table, trials
from paper.study import Part, Scope, Step, Study, Tables


class Active(Study):
    """How many labels each update needs."""

    name = "active"
    title = "Active learning: the fraction of labels that is needed"

    def steps(self, scope: Scope) -> list[Step]:
        return trials.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        found = hulls.shuffles(tables)
        shown, shuffles = scope.choose(("20,000", "three shuffles"), ("4,000", "one shuffle"))
        figures = [figure.draw(found, tables, constants, scope) for constants in trials.CONSTANTS]
        return Part(
            [
                _EXPERIMENT.format(shown=shown, shuffles=shuffles),
                *figures,
                _HINDSIGHT,
                table.table(found, scope),
                _READING,
            ],
            claims.claims(found, tables),
        )


_EXPERIMENT = """\
Rows come one after another, and a learner asks for the labels of some: for each with a probability P \
that is the greater the less it is sure of its prediction, and it learns the label with importance 1/P. \
Such weights are what importance-aware updates are for. For each update 1,980 learners look at the same \
{shown} rows: 198 schedules of the learning rate × 10 values of C₀, from 1e-8 to 10: the larger, the \
more it asks. Squared loss on labels −1 and 1, rates divided by x·x, no bias. *Multiplication* is the \
explicit update: the gradient times the weight. *Passive* learners learn every label as it comes; their \
curve is the error after a part of the rows. All of that was done with {shuffles} of each set; the error \
is that on rows which nobody was shown, up to a fifth of the set. P has two constants: those with which \
bounds are proved (theory: 5 + 2√2 and 5), and those that are common in practice (1 and 1)."""

_HINDSIGHT = """\
**Hindsight.** Nobody knows beforehand which of 1,980 settings will be on the hull, or how many labels a \
C₀ will ask for. The dots in the figures are what a user gets who knows nothing but the number of labels \
to be paid for: 1, 2, 5, 10 and 20 % of the rows, asked for by `ActiveClassifier(budget=…)`, or as many \
random ones, learned by the same learner."""

_READING = """\
Every fraction is the luckiest of many trials, for passive learning too: its best rate and update are \
chosen anew for every error. It was looked at 37 times, and a straight line drawn between two looks. \
*Never* means that no setting came to the error. The error of 1.1 times the least is the rule that was set \
beforehand; 1.3 was added when trials on rcv1-ccat and arxiv-astro had been seen at six levels from 1.05 \
to 2, because it is about 8 % on rcv1-ccat, the error of the claim. The level matters: the stricter, the \
less is saved."""
