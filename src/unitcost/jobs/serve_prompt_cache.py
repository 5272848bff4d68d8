"""The account of the prompt cache on a serving plan: what it could give, what it gave, and where the rest went."""

from __future__ import annotations

from dataclasses import dataclass

from unitcost.report.model import Section
from unitcost.report.plan_page import bar_chart, table
from unitcost.serving.fleet import Fleet
from unitcost.serving.prefix_hits import PrefixAccount, no_hits_because, prefix_account
from unitcost.serving.search import Tried
from unitcost.serving.simulate import run
from unitcost.serving.traces import Trace
from unitcost.units import MEGA

_PARTS = (
    ("found", "found_tokens", "given by the caches of the replicas"),
    ("lost: caching off", "lost_to_off_tokens", "the engine keeps no prefixes"),
    ("lost: block size", "lost_to_blocks_tokens", "blocks that a prompt does not fill cannot be shared"),
    ("lost: size, eviction", "lost_to_room_tokens", "one cache as large as the fleet's would have dropped them"),
    (
        "lost: routing",
        "lost_to_routing_tokens",
        "they were kept by another replica; below zero: parted caches kept more",
    ),
    (
        "lost: order, timing",
        "lost_to_timing_tokens",
        "memory of running requests; the last token of a prompt that is there as a whole",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCache:
    """Account of the chosen plan.

    Parameters
    ----------
    account
        Tokens; None: the trace does not say what prompts share.
    nothing_because
        Why the cache finds nothing; empty: it should find something.
    """

    account: PrefixAccount | None
    nothing_because: str

    @property
    def found_share(self) -> float:
        """Tokens found over all tokens of prompts."""
        return self.account.found_tokens / self.account.prompt_tokens if self.account else 0.0


def prompt_cache_of(trace: Trace, chosen: Tried, off_reason: str = "") -> PromptCache:
    """Account of a plan, from one more run of it.

    Parameters
    ----------
    off_reason
        Why the engine keeps no prefixes for this model; empty: it does.
    """
    engine = chosen.option.engine
    why = no_hits_because(
        trace, caching=engine.prefix_caching, block_tokens=engine.block_tokens, off_reason=off_reason
    )  # fmt: skip
    if not trace.hash_tokens:
        return PromptCache(account=None, nothing_because=why)
    fleet = Fleet(grid=chosen.option.grid, engine=engine, places={"on-demand": chosen.replicas})
    return PromptCache(account=prefix_account(run(trace, fleet), fleet, off_reason=off_reason), nothing_because=why)


def prompt_cache_section(found: PromptCache) -> Section:
    """Table of the parts, which add up to the ceiling."""
    account = found.account
    question = "How much of the prompts could a cache give, how much did it, and why not more?"
    notes = (f"It finds nothing: {found.nothing_because}.",) if found.nothing_because else ()
    if account is None:
        return Section(key="prompt-cache", title="Prompt cache", question=question, notes=notes)
    parts = [(name, getattr(account, field), why) for name, field, why in _PARTS]
    shown = [(name, tokens, why) for name, tokens, why in parts if tokens or name == "found"]
    rows = [[name, f"{tokens:,}", _share(tokens, account.prompt_tokens)] for name, tokens, _ in shown]
    rows.append(["ceiling", f"{account.ceiling_tokens:,}", _share(account.ceiling_tokens, account.prompt_tokens)])
    return Section(
        key="prompt-cache", title="Prompt cache", question=question,
        tables=(table(["", "tokens", "of all prompts"], rows),),
        charts=(bar_chart("prompt-cache", "Prompt tokens, million", [(n, t / MEGA) for n, t, _ in shown], "M"),),
        notes=(
            *notes, *(f"{name[:1].upper()}{name[1:]}: {why}." for name, _, why in shown),
            "The ceiling is one cache without limit for all replicas, to the blocks that the trace hashes. Least-loaded routing.",
        ),
    )  # fmt: skip


def _share(tokens: int, all_tokens: int) -> str:
    return f"{tokens / all_tokens:.1%}" if all_tokens else "–"
