"""Every law for every loss in the registry; and every law fails for a loss that breaks it."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from steelyard import losses
from steelyard.losses import Loss
from tests.losses import draws, laws, wrong
from tests.losses.laws import Law

VARIANTS = [losses.by_name(name) for name in losses.names()] + [losses.by_name("quantile", tau=0.9)]
SEARCH = settings(
    max_examples=50, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def check(law: Law, loss: Loss, how: settings = SEARCH) -> None:
    """Draw predictions, labels and pushes for which the law might fail."""

    @how
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        y = data.draw(draws.labels(loss))
        p = data.draw(st.one_of(draws.predictions(loss), st.just(y)))
        law(loss, p, y, data.draw(draws.pushes))

    try:
        holds()
    except AssertionError as failure:
        raise AssertionError(f"{loss!r} breaks the law {law.__name__}: {failure}") from failure


@pytest.mark.parametrize("law", laws.ALL, ids=lambda law: law.__name__)
@pytest.mark.parametrize("loss", VARIANTS, ids=repr)
def test_law(loss: Loss, law: Law) -> None:
    check(law, loss)


@pytest.mark.soak
@pytest.mark.parametrize("law", laws.ALL, ids=lambda law: law.__name__)
@pytest.mark.parametrize("loss", VARIANTS, ids=repr)
def test_law_at_length(loss: Loss, law: Law) -> None:
    check(law, loss, settings(SEARCH, max_examples=20_000, derandomize=False))


@pytest.mark.no_cover
@pytest.mark.parametrize("loss", wrong.ALL, ids=repr)
def test_a_wrong_loss_is_caught_by_name(loss: Loss) -> None:
    law = getattr(laws, loss.caught_by)  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match=rf"{type(loss).__name__}\(\) breaks the law {law.__name__}"):
        check(law, loss, settings(SEARCH, max_examples=300, phases=[Phase.generate]))


def test_every_law_has_a_loss_that_breaks_it() -> None:
    assert {law.__name__ for law in laws.ALL} == {loss.caught_by for loss in wrong.ALL}
