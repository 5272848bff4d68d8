"""What a million tokens, a call and an accepted answer cost, as figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.facts.token_answers import Hosted, TokenCost
from unitcost.figure import Figure, figure_id, ratio
from unitcost.units import CENT_PLACES, PER_MILLION, PERCENT

_UNKNOWN_SIDE = "not known by side: there is one cost for all tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Cost and tokens of one side of the calls whose cost was computed; none where nothing was."""

    cost: Figure
    tokens: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a line of the token account is made from.

    Parameters
    ----------
    path, name
        Steps of the ids of its figures.
    cost
        Of calls whose cost is known.
    covered_tokens, covered_calls, accepted
        Of the calls whose cost is known: tokens that a model took or made, calls, and accepted answers; None where nothing
        tells which were accepted.
    input_tokens, output_tokens, calls
        All that were counted.
    input_side, output_side
        For prices by side.
    """

    path: str
    name: str
    hosted: Hosted
    cost: Figure
    covered_tokens: Figure
    covered_calls: Figure
    input_tokens: Figure
    output_tokens: Figure
    calls: Figure
    accepted: Figure | None = None
    input_side: Side | None = None
    output_side: Side | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    unpriced_tokens: int = 0


def token_cost(made: Made, *, at: str) -> TokenCost:
    """Line of the token account.

    Parameters
    ----------
    at
        Tag of the selection, for figure ids.

    Notes
    -----
    ``per million = cost / (tokens / 10^6)``. The blended price is that of the mix which occurred, and counts only calls
    whose cost is known. Failed calls are part of the cost of a call and of an accepted answer.
    """
    unit = made.cost.unit
    return TokenCost(
        name=made.name, hosted=made.hosted, cost=made.cost, input_tokens=made.input_tokens,
        output_tokens=made.output_tokens, calls=made.calls, per_input=_side(made, "input", made.input_side, at),
        per_output=_side(made, "output", made.output_side, at),
        blended=per_mtok((made.path, made.name, "blended"), made.cost, made.covered_tokens, at=at, label=made.name),
        blend=blend_of(made.input_tokens, made.output_tokens),
        per_call=_each(made, "call", made.covered_calls, unit, at), per_accepted=_each(made, "accepted", made.accepted, unit, at),
        low=made.low, high=made.high, unpriced_tokens=made.unpriced_tokens,
    )  # fmt: skip


def per_mtok(steps: Sequence[str], cost: Figure, tokens: Figure, *, at: str, label: str) -> Figure:
    """Cost of a million tokens."""
    unit = f"{cost.unit}/million tokens"
    identity = (*steps, cost.unit)
    if not tokens.value or cost.value is None:
        reason = cost.note or "no tokens" if cost.value is None else "no tokens"
        return nothing(identity, unit, reason, at=at, label=label, inputs=(cost, tokens))
    scale = Figure(
        id=figure_id(*identity, "million", at=at), value=PER_MILLION, unit="tokens", basis="derived", op="given",
        formula="definition", label="a million",
    )  # fmt: skip
    millions = Figure(
        id=figure_id(*identity, "millions", at=at), value=money.divide(tokens.value, PER_MILLION), unit="million tokens",
        basis="derived", op="ratio", formula="tokens / 10^6", inputs=(tokens, scale), label="million tokens",
    )  # fmt: skip
    return ratio(figure_id(*identity, at=at), cost, millions, unit=unit, label=f"{label}, a million tokens")


def amount_per_mtok(cost: Decimal, tokens: Decimal) -> Decimal | None:
    """Cost of a million tokens; None without tokens."""
    return money.divide(money.multiply(cost, PER_MILLION), tokens) if tokens else None


def blend_of(input_tokens: Figure, output_tokens: Figure) -> str:
    """Name of the mix in which tokens occurred: `90.00 % input`, or `output only` where the other side is not counted."""
    if input_tokens.value is None or output_tokens.value is None:
        known = [name for name, side in (("input", input_tokens), ("output", output_tokens)) if side.value is not None]
        return f"{known[0]} only" if known else ""
    return mix_of(input_tokens.value, output_tokens.value)


def mix_of(taken: Decimal, made: Decimal) -> str:
    """Share of the input among input and output tokens, in words; empty without tokens."""
    whole = money.add([taken, made])
    if not whole:
        return ""
    share = money.round_places(money.multiply(PERCENT, money.divide(taken, whole)), CENT_PLACES)
    return f"{share} % input"


def nothing(
    steps: Sequence[str], unit: str, note: str, *, at: str, label: str = "", inputs: tuple[Figure, ...] = ()
) -> Figure:
    """Figure without a value, with the reason."""
    return Figure(
        id=figure_id(*steps, at=at), value=None, unit=unit, basis="unknown", op="none", formula="no value", inputs=inputs,
        note=note, label=label,
    )  # fmt: skip


def _side(made: Made, name: str, side: Side | None, at: str) -> Figure:
    steps = (made.path, made.name, name)
    if side is None:
        unit = f"{made.cost.unit}/million tokens"
        return nothing((*steps, made.cost.unit), unit, _UNKNOWN_SIDE, at=at, label=made.name)
    return per_mtok(steps, side.cost, side.tokens, at=at, label=f"{made.name} {name}")


def _each(made: Made, what: str, count: Figure | None, unit: str, at: str) -> Figure:
    steps = (made.path, made.name, f"per-{what}", unit)
    label = f"{made.name}, each {what}"
    if count is None:
        return nothing(steps, f"{unit}/{what}", "nothing tells which answers were accepted", at=at, label=label)
    if made.cost.value is None or count.value is None:
        return nothing(
            steps, f"{unit}/{what}", made.cost.note or count.note, at=at, label=label, inputs=(made.cost, count)
        )
    return ratio(figure_id(*steps, at=at), made.cost, count, unit=f"{unit}/{what}", label=label, empty=f"no {what}")
