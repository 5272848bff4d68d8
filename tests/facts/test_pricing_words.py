"""One vocabulary for how capacity is priced."""

from __future__ import annotations

import pytest

from unitcost.errors import UnknownName
from unitcost.facts.pricing import CATEGORIES, SPELLINGS, category_named, pricing_category, spot_or_not


@pytest.mark.parametrize(
    ("word", "category"),
    [
        ("on-demand", "Standard"), ("OnDemand", "Standard"), ("ON_DEMAND", "Standard"), ("dedicated", "Standard"),
        ("SPOT", "Dynamic"), ("preemptible", "Dynamic"), ("low_priority", "Dynamic"), ("LowPriority", "Dynamic"),
        ("reserved", "Committed"), ("savings plan", "Committed"), ("Other", "Other"),
    ],
)  # fmt: skip
def test_words_of_clouds_and_schedulers(word: str, category: str) -> None:
    assert pricing_category(word) == category


def test_each_spelling_is_a_word() -> None:
    assert {pricing_category(word) for word in SPELLINGS} == set(CATEGORIES)


def test_another_word_is_refused_with_the_near_ones() -> None:
    assert category_named("free") is None
    with pytest.raises(UnknownName, match="did you mean `on-demand`"):
        pricing_category("on demnd")


def test_what_is_not_known_stays_so() -> None:
    assert [spot_or_not(spot) for spot in (True, False, None)] == ["Dynamic", "Standard", None]
