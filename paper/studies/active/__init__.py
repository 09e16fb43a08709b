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
Rows arrive one after another, and a learner asks for the labels of some of them: it asks with a \
probability P, which is the greater the less sure it is of its prediction, and learns the label with \
importance weight 1/P. Importance-aware updates are made for such weights. For each update, 1,980 learners \
see the same {shown} rows: 198 schedules of the learning rate × 10 values of C₀, from 1e-8 to 10; with a \
larger C₀ a learner asks more. Squared loss on labels −1 and 1, rates divided by x·x, no bias. \
*Multiplication* is the explicit update: the gradient times the weight. *Passive* learners learn every \
label; their curve is the error after a part of the rows. All of this was done with {shuffles} of each \
data set; the error is measured on other rows, up to a fifth of the set. P has two constants: those for \
which bounds are proved (theory: 5 + 2√2 and 5), and those that are common in practice (1 and 1)."""

_HINDSIGHT = """\
**Hindsight.** Nobody knows beforehand which of 1,980 settings will be on the hull, or how many labels a \
C₀ will ask for. The dots in the figures show what a user gets who only knows the number of labels to pay \
for: 1, 2, 5, 10 and 20 % of the rows, chosen by `ActiveClassifier(budget=…)`, or as many random ones, \
learned by the same learner."""

_READING = """\
Every fraction is the luckiest of many trials, for passive learning too: its best rate and update are \
chosen again for every error. It was evaluated 37 times, with straight lines in between. *Never* means that \
no setting reached the error. The level of 1.1 times the lowest error was fixed beforehand; 1.3 was added \
after trials on rcv1-ccat and arxiv-astro at six levels from 1.05 to 2, because it is about 8 % on \
rcv1-ccat, the error of the claim. The level matters: the stricter it is, the less is saved."""
