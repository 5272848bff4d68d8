"""Answers served for similar requests: similarity, who shares with whom, and how often it is wrong."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from unitcost.economics.caching.near import agreeing, cosine, near_hits, signatures, unit_vectors
from unitcost.economics.caching.saving import CacheCosts, net_saving_usd_per_1k
from unitcost.errors import UnitcostError

ANSWERS = np.array(["x", "x", "y"])


def runs(text: str) -> set[str]:
    return {text[i : i + 4] for i in range(len(text) - 3)}


def test_signatures_estimate_the_share_of_runs_in_common():
    rng = np.random.default_rng(1)
    words = ["card", "lost", "transfer", "pending", "fee", "cash", "limit", "account", "refund", "charge"]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(40)]
    made = signatures(texts)
    errors = [
        agreeing(made[[a]], made[b])[0] - len(runs(texts[a]) & runs(texts[b])) / len(runs(texts[a]) | runs(texts[b]))
        for a in range(40) for b in range(a)
    ]  # fmt: skip
    assert abs(float(np.mean(errors))) < 0.01
    assert float(np.std(errors)) < 0.05  # sqrt(0.25 / 128) = 0.044 at most


def test_a_hit_takes_the_nearest_and_says_how_often_it_is_wrong():
    points = unit_vectors(np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2]]))
    found = near_hits(points, cosine, 0.9, ANSWERS, ANSWERS)
    assert (found.hits, found.changed, found.wrong) == (2, 1, 1)
    assert found.served.tolist() == [0, 0, 0]
    assert 0.0 < found.changed_low < 0.5 < found.changed_high < 1.0


def test_a_hit_whose_right_answer_nobody_knows_is_not_judged():
    points = unit_vectors(np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2]]))
    found = near_hits(points, cosine, 0.9, ANSWERS, np.array(["x", "", "y"]))
    assert (found.hits, found.judged, found.wrong) == (2, 1, 1)


def test_only_what_was_computed_is_stored_so_answers_do_not_drift():
    points = unit_vectors(np.array([[1.0, 0.0], [1.0, 0.45], [1.0, 1.0]]))  # 24 and 45 degrees off
    assert near_hits(points, cosine, 0.9, ANSWERS).served.tolist() == [0, 0, 2]


def test_tenants_do_not_share():
    points = signatures(["the same text"] * 3)
    assert near_hits(points, agreeing, 0.9, ANSWERS, tenants=["a", "b", "a"]).served.tolist() == [0, 1, 0]


def test_an_embedding_that_is_none_is_refused():
    with pytest.raises(UnitcostError, match="zero or not a number"):
        unit_vectors(np.array([[0.0, 0.0]]))


def test_the_saving_is_net_of_what_the_cache_costs():
    costs = CacheCosts(
        usd_per_1k=Decimal("2.00"), lookup_usd_per_1k=Decimal("0.05"), usd_per_gb_month=Decimal("10"), entry_bytes=1_000,
        error_cost_usd=Decimal("0.01"),
    )  # fmt: skip
    found = net_saving_usd_per_1k(costs, 0.25, entries=1_000_000, requests_per_month=1e6, changed_share=0.001)
    # 0.50 saved - 0.05 lookup - 10 USD a month over 1,000 thousands - 10 USD per thousand errors * 0.001
    assert found == Decimal("0.50") - Decimal("0.05") - Decimal("0.01") - Decimal("0.01")
