"""Coverage: what has no price is counted and named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unitcost.economics.coverage import TokenUse, price_coverage

uses = st.builds(
    TokenUse, model=st.sampled_from("abc"), tokens=st.integers(0, 10**9),
    state=st.sampled_from(["priced", "unpriced", "self-hosted"]),
)  # fmt: skip


@given(st.lists(uses))
def test_every_token_is_in_one_state(used: list[TokenUse]) -> None:
    found = price_coverage(used)
    total = found.priced_tokens + sum(found.unpriced.values()) + sum(found.self_hosted.values())
    assert total == sum(use.tokens for use in used)
    assert found.share is None or 0 <= found.share <= 1


def test_no_use_has_no_coverage() -> None:
    assert price_coverage([]).share is None
    assert price_coverage([TokenUse(model="own", tokens=5, state="self-hosted")]).share is None
