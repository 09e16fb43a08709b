"""Safety and regret, measured."""

from paper.studies.safety import bounds, regret, single, steps, theorem
from paper.studies.safety.steps import REGRET, SINGLE
from paper.study import Part, Scope, Step, Study, Tables


class Safety(Study):
    """Whether steps go too far, and what that costs over a whole pass."""

    name = SINGLE
    title = "Section 4: safety and regret"
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        return [*steps.steps(scope), *theorem.steps(scope)]

    def part(self, tables: Tables, scope: Scope) -> Part:
        steps_alone, passes, bounded = tables[SINGLE], tables[REGRET], tables[theorem.TABLE]
        return Part(
            [*single.blocks(steps_alone), *bounds.blocks(bounded), *regret.blocks(passes)],
            [single.claim(steps_alone), bounds.claim(bounded), *regret.claims(passes)],
        )
