"""Safety and regret, measured."""

from paper.studies.safety import regret, single, steps
from paper.studies.safety.steps import REGRET, SINGLE
from paper.study import Part, Scope, Step, Study, Tables


class Safety(Study):
    """Whether steps go too far, and what that costs over a whole pass."""

    name = SINGLE
    title = "Safety and regret"

    def steps(self, scope: Scope) -> list[Step]:
        return steps.steps(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        steps_alone, passes = tables[SINGLE], tables[REGRET]
        return Part(
            [*single.blocks(steps_alone), *regret.blocks(passes)],
            [*single.claims(steps_alone), *regret.claims(passes)],
        )
