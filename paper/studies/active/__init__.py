"""Active learning: Figure 1 and Table 2."""

from paper.studies.active import claims, figure, hulls, noise, table, trials
from paper.study import Part, Scope, Step, Study, Tables


class Active(Study):
    """How many labels each update needs."""

    name = "active"
    title = "Figure 1 and Table 2: active learning"
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        return [*trials.steps(scope), *noise.steps(scope)]

    def part(self, tables: Tables, scope: Scope) -> Part:
        found = hulls.places(tables)
        shown, shuffles = scope.choose(("20,000", "three shuffles"), ("4,000", "one shuffle"))
        return Part(
            [
                _EXPERIMENT.format(shown=shown, shuffles=shuffles),
                figure.draw(found, table.MAIN_CONSTANTS, "Figure 1"),
                table.table(found, scope),
                _CHOICES,
                table.choices(found),
                figure.draw(found, "theory"),
            ],
            claims.claims(found, tables[noise.TABLE]),
        )


_EXPERIMENT = """\
A learner asks for the label of a row with a probability P, the greater the less sure it is of its \
prediction, and learns the answer with importance weight 1/P. For each update 1,980 learners see the \
same {shown} rows: 198 schedules × 10 values of C₀, from 1e-8 to 10. Rates are divided by x·x; no bias; \
{shuffles}; the error is measured on other rows. *Multiplication* is the explicit update."""

_CHOICES = """\
**What the paper leaves open here.** How its link σ(p) = max(0, min(1, p)) enters the gradient: \
*clipped* takes σ(p) − y, which in ±1 coordinates is `modified_huber` with the same rates; *plain* is \
squared loss on ±1 without any link. The constants of P: those of the proof (*theory*, 5 + 2√2 and 5) or \
those common in practice (1 and 1). Which passive run is typical: we take, of all runs that end at the \
stated error or below, the one with the median number of labels. The flip importance uses the rate of \
the moment, as the paper's appendix does; the answer is learned with the integral of the rate, the \
paper's Section 3.2 (multiplication: with the rate of the moment). The choice of hη instead of the \
integral was not run."""
