"""What `unitcost plan serve` is told on the command line, and what it tells while it works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.plan_serve_inputs import cache_terms, trace_files
from unitcost.errors import BadSetting

if TYPE_CHECKING:
    from unitcost.jobs.plan_serve import Watch
    from unitcost.jobs.serve_answers import ServeAsk


def ask_of(said: dict[str, Any]) -> ServeAsk:
    """What is asked, from the options of the command."""
    from unitcost.cli.plan_serve_fleets import cold_ask
    from unitcost.jobs.plan_words import amount, quantity, seconds
    from unitcost.jobs.serve_answers import ServeAsk
    from unitcost.serving.search import Limits

    def limit(name: str) -> float | None:
        text = said[name]
        return seconds(text, f"--{name.replace('_', '-')}") if text else None

    if not said["model"]:
        raise BadSetting(
            "no model is named", mend="give --model NAME, or --profile FILE for one that answers in one step"
        )
    _check_belonging(said)
    if sum(bool(said[name]) for name in ("traces", "calls", "curve", "rps")) > 1:
        raise BadSetting("of --trace, --calls, --curve and --rps several are given", mend="give one of them")
    if bool(said["curve"]) != bool(said["lengths"]):
        raise BadSetting("--curve and --lengths go together", mend="give both, or neither")
    files = trace_files(said["traces"])
    return ServeAsk(
        model=said["model"], trace=files[0] if files else None, more_traces=files[1:], calls=said["calls"],
        hash_tokens=said["hash_tokens"], requests=said["requests"] or 0,
        per_s=said["rps"] or 0.0, input_tokens=said["input_tokens"] or 0, output_tokens=said["output_tokens"] or 0,
        duration_s=seconds(said["duration"] or ("1h" if said["rps"] else "0s"), "--duration"),
        curve=said["curve"], lengths=said["lengths"], lengths_group=said["lengths_group"],
        per_day=quantity(said["requests_per_day"], "--requests-per-day") if said["requests_per_day"] else 0.0,
        gpus=said["gpus"],
        precisions=said["precisions"],
        limits=Limits(ttft_p95_s=limit("ttft_p95"), tpot_p95_s=limit("tpot_p95"), e2e_p95_s=limit("e2e_p95")),
        backend=said["backend"], most_replicas=said["max_replicas"], calibration=said["calibration"], cold=cold_ask(said),
        qualities=qualities(said["qualities"]), cache=cache_terms(said),
        quality_bar=amount(said["quality_bar"], "--quality-bar") if said["quality_bar"] else None,
    )  # fmt: skip


#: Options that are silently of no use without another -> that other.
_BELONGS = {
    "concurrency": "profile", "predictions_per_day": "profile", "usd_per_hour": "profile", "spot_usd_per_hour": "profile",
    "cooldowns": "profile", "gaps": "cooldowns", "slow_answer_usd": "profile", "free_start": "profile",
    "warm_pool": "with_fleets", "spot_trace": "with_fleets", "requests_per_day": "curve", "lengths_group": "curve",
    "smaller_model": "with_levers",
}  # fmt: skip


def _check_belonging(said: dict[str, Any]) -> None:
    for name, other in _BELONGS.items():
        if said[name] and not said[other]:
            option, needed = (f"--{one.removeprefix('with_').replace('_', '-')}" for one in (name, other))
            raise BadSetting(
                f"{option} is of no use without {needed}", mend=f"give {needed} too, or leave {option} out"
            )


def qualities(said: Sequence[str]) -> dict[str, Decimal]:
    """Measured qualities by what they are of."""
    from unitcost.jobs.plan_words import amount

    found = {}
    for text in said:
        name, sign, value = text.partition("=")
        if not sign:
            raise BadSetting(f"--quality {text} names no value", mend="write it like fp8=0.71")
        found[name.strip()] = amount(value, "--quality")
    return found


@contextmanager
def watching() -> Iterator[Watch]:
    """Say on standard error that machine code is made; where that is a terminal, also which option is played."""
    from unitcost.cli.output import progress_bar
    from unitcost.jobs.plan_serve import Watch
    from unitcost.serving.fleet_ways import WAYS

    runs, ways = [0], [0]
    with progress_bar() as tell:

        def run(_: str) -> None:
            runs[0] += 1
            if tell is not None and not ways[0]:
                tell("runs of the simulator", runs[0], runs[0] + 1)

        def way(_: str) -> None:
            if tell is not None:
                tell("fleets over the whole traffic", ways[0], WAYS)
            ways[0] += 1

        def compile_() -> None:
            click.echo("making machine code of the simulator, once: about half a minute", err=True)

        yield Watch(run=run, compile=compile_, way=way)
