"""The planner: better than known policies where nothing of the shipped chances could have been fitted."""

from __future__ import annotations

import numpy as np
import pytest

from tests.training.markets import job, market_from
from unitcost.training.lookahead import Ask, look_ahead
from unitcost.training.outlook import AGES_S, Outlook, age_class, observed
from unitcost.training.planning import planner
from unitcost.training.policies import greedy, late_line, uniform_progress
from unitcost.training.replay import Jobs, replay
from unitcost.units import SECONDS_PER_HOUR


def heavy_tailed_market(seed: int, ticks: int = 6000):
    """Spells with a Pareto tail: no zone of a public trace."""
    draw = np.random.default_rng(seed)
    there, up = [], bool(draw.integers(2))
    while len(there) < ticks:
        length = int(min(1 + draw.pareto(0.8) * (2.0 if up else 1.5), 400))
        there += [up] * length
        up = not up
    return market_from(there[:ticks])


def many(market, *, ratio: float = 1.5, count: int = 40) -> Jobs:
    one = job(market, hours=24, ratio=ratio)
    starts = np.linspace(0, market.ticks - int(one.ticks[0]), count).astype(int)
    again = np.ones(count)
    return Jobs(
        start=starts,
        ticks=np.full(count, one.ticks[0]),
        work_s=one.work_s * again,
        changeover_s=one.changeover_s * again,
    )


def test_the_planner_is_cheaper_than_known_policies_on_capacity_it_has_never_seen() -> None:
    costs = {"greedy": 0.0, "uniform": 0.0, "late": 0.0, "planner": 0.0}
    for seed in range(6):
        market = heavy_tailed_market(seed)
        jobs = many(market)
        for name, policy in (
            ("greedy", greedy),
            ("uniform", uniform_progress),
            ("late", late_line(len(jobs))),
            ("planner", planner(market, jobs)),
        ):
            costs[name] += float(replay(market, jobs, policy).cost_usd.mean())
    assert costs["planner"] < min(costs["greedy"], costs["uniform"], costs["late"])


def test_chances_are_counted_by_age() -> None:
    market = market_from(([True] * 20 + [False] * 5) * 200)
    outlook = observed([market])
    assert outlook.there_ends[0] < 0.01
    assert outlook.there_ends[age_class(np.array([19 * 600.0]))[0]] > 0.03
    assert outlook.away_ends[age_class(np.array([4 * 600.0]))[0]] > outlook.away_ends[0]


def test_a_prior_holds_where_little_was_seen() -> None:
    prior = Outlook()
    outlook = observed([market_from([True] * 3)], prior=prior, weight=1000.0)
    assert outlook.there_ends == pytest.approx(prior.there_ends, abs=0.01)
    assert outlook.away_ends == pytest.approx(prior.away_ends, abs=0.01)


def test_expected_stay_grows_with_age_and_matches_a_constant_chance() -> None:
    assert np.all(np.diff(Outlook().remaining_s()) > 0)
    constant = Outlook(there_ends=(0.1,) * len(AGES_S))
    assert constant.remaining_s() == pytest.approx(np.full(len(AGES_S), 10 * 600.0), rel=1e-9)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_table_expects_less_cost_with_more_slack_and_never_more_than_on_demand(share: float) -> None:
    changeover_s = 720.0
    ask = Ask(
        outlook=Outlook(), spot_share=share, changeover_s=changeover_s, longest_s=24 * 3600.0, most_slack_s=12 * 3600.0
    )
    table = look_ahead(ask, step_s=600.0)
    slack_s = np.arange(table.expected_hours.shape[2]) * table.step_s
    usable = slack_s >= changeover_s
    hours = (24 * SECONDS_PER_HOUR - slack_s + changeover_s) / SECONDS_PER_HOUR
    assert np.all(table.expected_hours[:, :, usable] <= hours[usable] + table.step_s / SECONDS_PER_HOUR)
    assert np.all(np.diff(table.expected_hours[:, :, usable], axis=2) <= 1e-9)


def test_it_moves_to_a_much_cheaper_zone_and_stays_for_a_little_cheaper_one() -> None:
    there = [[True] * 300, [False] * 6 + [True] * 294]
    jobs_hours = {0.02: 1, 0.29: 0}
    for usd, moves in jobs_hours.items():
        market = market_from(there, usd=[[0.3], [usd]])
        jobs = job(market, hours=24, ratio=1.5)
        outcome = replay(market, jobs, planner(market, jobs))
        assert outcome.changeovers[0] == 1 + moves


def test_egress_keeps_a_job_where_it_is() -> None:
    there = [[True] * 300, [False] * 6 + [True] * 294]
    market = market_from(there, usd=[[0.3], [0.02]], egress=(50.0, 50.0))
    jobs = job(market, hours=24, ratio=1.5)
    assert replay(market, jobs, planner(market, jobs)).changeovers[0] == 1


def test_the_same_replay_gives_the_same_answer() -> None:
    market = heavy_tailed_market(3)
    jobs = many(market)
    first, second = (replay(market, jobs, planner(market, jobs)).cost_usd for _ in range(2))
    assert np.array_equal(first, second)
