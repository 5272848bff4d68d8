"""Exports of the same traffic as a gateway and two tracers write it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tests.call_files import AT

_LENGTH = timedelta(seconds=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """One call, whoever tells of it."""

    id: str
    at: datetime = AT
    taken: int = 1_000
    made: int = 100
    model: str = "otter"
    cost: str = "0.0028"
    status: str = "success"

    @property
    def ended(self) -> datetime:
        """End of the call."""
        return self.at + _LENGTH


def traffic(count: int, *, seed: int = 1, every_s: float = 20) -> list[Traffic]:
    """Calls of two models with tokens of their own."""
    luck = Random(seed)
    return [
        Traffic(
            id=f"g-{number}", at=AT + timedelta(seconds=every_s * number + luck.random()), taken=luck.randint(200, 9_000),
            made=luck.randint(20, 900), model=luck.choice(["otter", "heron"]),
        )
        for number in range(count)
    ]  # fmt: skip


def renamed(calls: Iterable[Traffic], *, late_s: float = 0.2) -> list[Traffic]:
    """The same calls as another source sees them: ids of its own, a little later."""
    return [replace(call, id=f"t-{call.id}", at=call.at + timedelta(seconds=late_s)) for call in calls]


def litellm(calls: Iterable[Traffic]) -> str:
    """Answer of `/spend/logs`."""
    return json.dumps([
        {
            "request_id": call.id, "call_type": "acompletion", "api_key": "k1", "spend": float(call.cost),
            "total_tokens": call.taken + call.made, "prompt_tokens": call.taken, "completion_tokens": call.made,
            "startTime": call.at.isoformat(), "endTime": call.ended.isoformat(), "model": f"lab/{call.model}",
            "custom_llm_provider": "lab", "user": "ada", "metadata": {}, "cache_hit": "False", "cache_key": "Cache OFF",
            "request_tags": [], "team_id": "t1", "status": call.status,
        }
        for call in calls
    ])  # fmt: skip


def otel(calls: Iterable[Traffic]) -> str:
    """Lines of OTLP JSON; the id of the call is that of the response."""
    return "\n".join(
        json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [_span(call)]}]}]}) for call in calls
    )


def _span(call: Traffic) -> dict[str, Any]:
    usage = {"gen_ai.usage.input_tokens": call.taken, "gen_ai.usage.output_tokens": call.made}
    names = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "lab", "gen_ai.response.model": call.model}
    texts = {**names, "gen_ai.response.id": call.id}
    return {
        "traceId": f"trace-{call.id}", "spanId": f"span-{call.id}", "name": "chat",
        "startTimeUnixNano": str(_nanoseconds(call.at)), "endTimeUnixNano": str(_nanoseconds(call.ended)),
        "attributes": [
            *({"key": key, "value": {"stringValue": text}} for key, text in texts.items()),
            *({"key": key, "value": {"intValue": str(count)}} for key, count in usage.items()),
        ],
    }  # fmt: skip


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1_000


def langfuse(calls: Iterable[Traffic]) -> str:
    """Export of observations."""
    return json.dumps([
        {
            "id": call.id, "traceId": f"trace-{call.id}", "type": "GENERATION", "name": "answer",
            "startTime": call.at.isoformat(), "endTime": call.ended.isoformat(), "model": f"{call.model}-2031-05-01",
            "level": "DEFAULT" if call.status == "success" else "ERROR", "parentObservationId": None, "metadata": {},
            "usageDetails": {"input": call.taken, "output": call.made, "total": call.taken + call.made},
            "costDetails": {"total": float(call.cost)},
        }
        for call in calls
    ])  # fmt: skip
