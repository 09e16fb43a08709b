"""Safety and regret, measured."""

from paper.studies.safety import bounds, regret, single, steps, theorem
from paper.studies.safety.steps import REGRET, SINGLE
from paper.study import Part, Scope, Step, Study, Tables


class Safety(Study):
    """Whether steps go too far, and Theorem 3."""

    name = SINGLE
    title = "Section 4: safety and regret"
    of_paper = True

    def steps(self, scope: Scope) -> list[Step]:
        return [*steps.single(scope), *theorem.steps(scope)]

    def part(self, tables: Tables, scope: Scope) -> Part:
        steps_alone, bounded = tables[SINGLE], tables[theorem.TABLE]
        return Part(
            [*single.blocks(steps_alone), *bounds.blocks(bounded)],
            [single.claim(steps_alone), bounds.claim(bounded)],
        )


class Regret(Study):
    """What steps that go too far cost over a whole pass."""

    name = REGRET
    title = "Regret with larger and larger weights"

    def steps(self, scope: Scope) -> list[Step]:
        return steps.passes(scope)

    def part(self, tables: Tables, scope: Scope) -> Part:
        return Part(regret.blocks(tables[REGRET]), regret.claims(tables[REGRET]))
