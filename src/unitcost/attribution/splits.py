"""Shared cost, divided among owners so that the parts add up to the last step of 10^-places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.facts.rules import UNTAGGED, SplitRule
from unitcost.figure import Figure, figure_id, total


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerShare:
    """What an owner has after all splits.

    `direct` is what its own charges cost, `shared` the parts it received, `given` what it gave away as a pool;
    `amount` = direct + shared - given.
    """

    owner: str
    direct: Figure | None
    shared: tuple[Figure, ...]
    amount: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What a split divides: the figure of the pool, by the owner it is taken from."""

    rule: SplitRule
    taken: Mapping[str, Figure]


def apply_splits(
    direct: Mapping[str, Figure], pools: Sequence[Pool], *, unit: str, at: str, kind: str,
    metrics: Mapping[str, Mapping[str, Decimal]],
) -> list[OwnerShare]:  # fmt: skip
    """Owners after the splits of the settings, in sorted order; their amounts add up to the direct amounts.

    Parameters
    ----------
    direct
        Owner -> figure of its own charges, in one currency.
    pools
        Splits in the order of the settings, each with what it takes and from whom. A pool that nobody can
        receive stays with those it came from.
    unit
        Currency of the figures.
    at
        Tag of the selection, for figure ids.
    kind
        `team`, `project` or `experiment`.
    metrics
        Unit of output -> owner -> quantity, for splits by metric.

    Raises
    ------
    BadSetting
        When a fixed split names no positive share.
    """
    shared: dict[str, list[Figure]] = {}
    given: dict[str, list[Figure]] = {}
    for number, pool in enumerate(pools):
        receivers = _receivers(pool, direct, metrics)
        for source, taken in sorted(pool.taken.items()):
            if not receivers or not taken.value:
                continue
            parts = _parts(taken, receivers, number=number, source=source, unit=unit, at=at, kind=kind, rule=pool.rule)
            for owner, part in parts.items():
                shared.setdefault(owner, []).append(part)
            given.setdefault(source, []).append(taken)
    names = sorted({*direct, *shared})
    return [_share(name, direct.get(name), shared.get(name, []), given.get(name, []), unit, at, kind) for name in names]


def _receivers(
    pool: Pool, direct: Mapping[str, Figure], metrics: Mapping[str, Mapping[str, Decimal]]
) -> dict[str, Decimal]:
    """Receiver -> weight, in sorted order; those of weight zero are left out unless all are equal."""
    rule = pool.rule
    if rule.how == "fixed":
        weights = dict(rule.shares)
    elif rule.how == "metric":
        weights = dict(metrics.get(rule.metric, {}))
    else:
        names = rule.among or tuple(name for name in direct if name != UNTAGGED and name not in pool.taken)
        own = {name: _remaining(direct.get(name), pool.taken.get(name)) for name in names}
        weights = {name: Decimal(1) for name in names} if rule.how == "even" else own
    if rule.among:
        weights = {name: weight for name, weight in weights.items() if name in rule.among}
    positive = {name: weight for name, weight in sorted(weights.items()) if weight > 0}
    if rule.how == "fixed" and not positive:
        raise BadSetting("no share is positive", where=rule.name, mend="give each receiver a share above zero")
    return positive


def _remaining(own: Figure | None, taken: Figure | None) -> Decimal:
    value = own.value if own and own.value is not None else money.ZERO
    return money.subtract(value, taken.value) if taken and taken.value is not None else value


def _parts(
    taken: Figure, receivers: Mapping[str, Decimal], *, number: int, source: str, unit: str, at: str, kind: str,
    rule: SplitRule,
) -> dict[str, Figure]:  # fmt: skip
    assert taken.value is not None
    weights = list(receivers.values())
    places = rule.places if _fits(taken.value, rule.places) else 12
    amounts = money.split_amount(taken.value, weights, places=places)
    given = tuple(
        Figure(
            id=figure_id("weight", kind, f"split{number}", source, owner, unit, at=at), value=weight, unit="weight",
            basis="derived", op="given", formula=f"weight of {owner} in {rule.name}", label=f"weight of {owner}",
        )
        for owner, weight in receivers.items()
    )  # fmt: skip
    return {
        owner: Figure(
            id=figure_id("shared", kind, f"split{number}", source, owner, unit, at=at), value=amount, unit=unit,
            basis="derived", op="split", formula=f"part of {owner} in {taken.label or source}: {rule.name}",
            inputs=(taken, *given), part=index, places=places, label=f"shared with {owner}",
        )
        for index, (owner, amount) in enumerate(zip(receivers, amounts, strict=True))
    }  # fmt: skip


def _fits(amount: Decimal, places: int) -> bool:
    return money.round_places(amount, places) == amount


def _share(
    name: str, own: Figure | None, shared: list[Figure], given: list[Figure], unit: str, at: str, kind: str
) -> OwnerShare:
    identity = figure_id("owner", kind, name, unit, at=at)
    inputs = tuple(f for f in (own, *shared) if f is not None)
    added = total(
        figure_id("owner", kind, name, unit, "before", at=at), inputs, unit=unit, label=f"{name} before giving"
    )
    if not given:
        amount = Figure(
            id=identity, value=added.value, unit=unit, basis="derived", op="sum", formula=added.formula,
            inputs=added.inputs, label=name,
        )  # fmt: skip
    else:
        assert added.value is not None
        less = money.add(f.value for f in given if f.value is not None)
        amount = Figure(
            id=identity, value=money.subtract(added.value, less), unit=unit, basis="derived", op="difference",
            formula=f"{name} before giving - what is shared out", inputs=(added, *given), label=name,
        )  # fmt: skip
    return OwnerShare(owner=name, direct=own, shared=tuple(shared), amount=amount)
