"""Calls of models in the sample: the spend log of a LiteLLM proxy, the prices of the models, and the truth about them.

The log was exported for one day of each month. The API's bill counts as the spend; the calls say what for.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from unitcost import money
from unitcost.samples import tokens
from unitcost.samples.lines import draw, generator, micro
from unitcost.samples.world import World
from unitcost.units import SECONDS_PER_DAY

#: Name of the API in the log, and that of the proxy for servers of vLLM.
SOLD_AS, OWN = "token_api", "hosted_vllm"
#: Model that no price list knows; the proxy knows none either, and writes a spend of 0.
UNKNOWN_MODEL = "large-3-preview"
PRICE_COLUMNS = (
    "model", "provider", "input_usd_per_mtok", "cache_read_usd_per_mtok", "cache_write_5m_usd_per_mtok", "output_usd_per_mtok",
)  # fmt: skip
COLUMNS = (
    "request_id", "call_type", "api_key", "spend", "total_tokens", "prompt_tokens", "completion_tokens", "startTime",
    "endTime", "model", "model_group", "custom_llm_provider", "user", "metadata", "cache_hit", "session_id", "status",
)  # fmt: skip
#: Day of each month that the log tells of, counted from 0.
_DAY = 18
#: Calls in a hundred that failed and were tried again; that the proxy answered from its own cache; that write a prompt cache.
_FAILED, _REPEATED, _WRITES = 3, 4, 15
#: Part of a prompt that is read from the provider's cache, or written to it [per cent].
_READ_PERCENT, _WRITTEN_PERCENT = 72, 40
Status = Literal["ok", "failed", "cached"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of the proxy: whose it is, which model it calls, how often a day, how long prompts and answers are."""

    alias: str
    team: str
    model: str
    per_day: tuple[int, int]
    prompt: tuple[int, int]
    answer: tuple[int, int]
    caches: bool = False
    provider: str = SOLD_AS


KEYS = (
    Key(alias="assistant-prod", team="support", model="large-2", per_day=(140, 170), prompt=(6_000, 48_000),
        answer=(200, 1_800), caches=True),
    Key(alias="triage-prod", team="support", model="small-2", per_day=(90, 110), prompt=(2_000, 9_000), answer=(20, 200),
        caches=True),
    Key(alias="rewrite-prod", team="search", model="small-2", per_day=(60, 80), prompt=(300, 1_500), answer=(40, 300)),
    Key(alias="fraud-notes", team="risk", model="large-2", per_day=(18, 26), prompt=(8_000, 40_000), answer=(300, 1_500)),
    Key(alias="", team="", model="large-2", per_day=(8, 14), prompt=(1_000, 6_000), answer=(100, 900)),
    Key(alias="assistant-own", team="support", model="assistant-8b", per_day=(50, 70), prompt=(1_000, 4_000),
        answer=(100, 700), provider=OWN),
    Key(alias="preview", team="support", model=UNKNOWN_MODEL, per_day=(3, 6), prompt=(2_000, 20_000), answer=(200, 1_200)),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One row of the log; `fresh`, `read` and `written` are disjoint parts of the prompt [tokens]."""

    key: Key
    at: datetime
    seconds: int
    session: str
    status: Status
    fresh: int = 0
    read: int = 0
    written: int = 0
    answer: int = 0

    @property
    def prompt(self) -> int:
        """Whole prompt, as the log counts it [tokens]."""
        return self.fresh + self.read + self.written

    @property
    def cost(self) -> int:
        """What the API charges for it; nothing for own and unknown models and for repeated answers [10^-12 USD]."""
        prices = tokens.PRICES.get(self.key.model)
        if prices is None or self.status != "ok":
            return 0
        parts = (self.fresh, self.read, self.written, self.answer)
        classes = ("Fresh input", "Cache read", "Cache write", "Output")
        return sum(count * micro(prices[name]) for count, name in zip(parts, classes, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledTruth:
    """Calls of one model, or of one team, and what the API charges for them [USD]."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsTruth:
    """What is true about the calls of a sample.

    Parameters
    ----------
    models, teams
        By name; the empty team is nobody.
    statuses
        How many calls were answered (`ok`), failed, or were answered by the proxy's own cache.
    reported
        Sum of what the proxy worked out for calls of models with a price [USD].
    unpriced_tokens, own_tokens
        Of the model without a price, and of models on own machines.
    """

    models: dict[str, CalledTruth]
    teams: dict[str, CalledTruth]
    statuses: dict[str, int]
    cost: Decimal
    reported: Decimal
    unpriced_tokens: int
    own_tokens: int


def calls(world: World) -> list[Call]:
    """Every call of the log, in order of time."""
    found = [
        call
        for month in range(len(world.calendar.months))
        for key in KEYS
        for call in _calls_of_day(
            world, key, world.calendar.moment(world.calendar.bounds[month]) + timedelta(days=_DAY)
        )
    ]
    return sorted(found, key=lambda call: (call.at, call.session, call.status))


def _calls_of_day(world: World, key: Key, day: datetime) -> Iterator[Call]:
    bits = generator(world.seed, "calls", key.alias or "nobody", f"{day:%Y-%m-%d}")
    count = int(draw(bits, 1, *key.per_day)[0])
    columns = (
        draw(bits, count, 0, SECONDS_PER_DAY - 60), draw(bits, count, 1, 20), draw(bits, count, *key.prompt),
        draw(bits, count, *key.answer), draw(bits, count, 0, 99), draw(bits, count, 0, 99),
    )  # fmt: skip
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, (second, seconds, prompt, answer, luck, cache) in enumerate(rows):
        session = f"{key.alias or 'nobody'}-{day:%m%d}-{number:04d}"
        at = day + timedelta(seconds=second)
        if luck < _FAILED:
            yield Call(key=key, at=at, seconds=1, session=session, status="failed")
            at += timedelta(seconds=2)
        written = prompt * _WRITTEN_PERCENT // 100 if key.caches and cache < _WRITES else 0
        read = prompt * _READ_PERCENT // 100 if key.caches and not written else 0
        repeated = key.model in tokens.PRICES and luck >= 100 - _REPEATED
        yield Call(
            key=key, at=at, seconds=0 if repeated else seconds, session=session, status="cached" if repeated else "ok",
            fresh=prompt - read - written, read=read, written=written, answer=answer,
        )  # fmt: skip


def spend_log(world: World) -> Iterator[str]:
    """Lines of the table of spend logs as csv, header first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(number, call) for number, call in enumerate(calls(world)))
    yield from text.getvalue().splitlines()


def _row(number: int, call: Call) -> list[object]:
    key, hashed = call.key, f"{generator(0, 'key', call.key.alias).random_raw():016x}"
    ended = call.at + timedelta(seconds=call.seconds)
    return [
        f"chatcmpl-{number:06d}", "acompletion", hashed, _spend(call), call.prompt + call.answer, call.prompt, call.answer,
        f"{call.at:%Y-%m-%d %H:%M:%S}", f"{ended:%Y-%m-%d %H:%M:%S}", key.model, key.model, key.provider, "",
        json.dumps(_metadata(call), separators=(",", ":")), str(call.status == "cached"), call.session,
        "failure" if call.status == "failed" else "success",
    ]  # fmt: skip


def _metadata(call: Call) -> dict[str, Any]:
    found: dict[str, Any] = {
        "user_api_key_alias": call.key.alias or None,
        "user_api_key_team_alias": call.key.team or None,
    }
    if call.status == "failed":
        return {**found, "error_information": {"error_code": "529", "error_class": "InternalServerError"}}
    details: dict[str, Any] = {"cached_tokens": call.read, "cache_creation_tokens": call.written}
    if call.written:
        details["cache_creation_token_details"] = {
            "ephemeral_5m_input_tokens": call.written, "ephemeral_1h_input_tokens": 0,
        }  # fmt: skip
    usage = {"prompt_tokens": call.prompt, "completion_tokens": call.answer, "prompt_tokens_details": details}
    return {**found, "usage_object": usage}


def _spend(call: Call) -> str:
    """What the proxy works out, in binary numbers as it does; it was told no price of a cache write, and takes that of input."""
    prices = tokens.PRICES.get(call.key.model)
    if prices is None or call.status != "ok":
        return "0.0"
    fresh, read, answer = (float(f"{prices[name]}e-6") for name in ("Fresh input", "Cache read", "Output"))
    return repr((call.fresh + call.written) * fresh + call.read * read + call.answer * answer)


def price_list() -> Iterator[str]:
    """Lines of the company's own list of model prices, header first."""
    yield ",".join(PRICE_COLUMNS)
    for model, prices in tokens.PRICES.items():
        classes = ("Fresh input", "Cache read", "Cache write", "Output")
        yield ",".join([model, tokens.PROVIDER, *(prices[name] for name in classes)])


def calls_truth(world: World) -> CallsTruth:
    """Truth about the calls, from the generator alone."""
    models: dict[str, list[Call]] = defaultdict(list)
    teams: dict[str, list[Call]] = defaultdict(list)
    statuses: dict[str, int] = defaultdict(int)
    found = calls(world)
    for call in found:
        models[call.key.model].append(call)
        teams[call.key.team].append(call)
        statuses[call.status] += 1
    priced = [call for call in found if call.key.model in tokens.PRICES and call.status != "failed"]
    return CallsTruth(
        models={name: _called(some) for name, some in sorted(models.items())},
        teams={name: _called(some) for name, some in sorted(teams.items())}, statuses=dict(sorted(statuses.items())),
        cost=money.from_units(sum(call.cost for call in found)),
        reported=money.add(Decimal(_spend(call)) for call in priced if call.status == "ok"),
        unpriced_tokens=_tokens(models[UNKNOWN_MODEL]),
        own_tokens=sum(_tokens(some) for name, some in models.items() if some[0].key.provider == OWN),
    )  # fmt: skip


def _called(found: list[Call]) -> CalledTruth:
    return CalledTruth(
        calls=len(found), input_tokens=sum(call.prompt for call in found), output_tokens=sum(call.answer for call in found),
        cost=money.from_units(sum(call.cost for call in found)),
    )  # fmt: skip


def _tokens(found: list[Call]) -> int:
    return sum(call.prompt + call.answer for call in found)
