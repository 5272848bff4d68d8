"""Shared cost, divided among owners so that the parts add up to the last step of 10^-places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from unitcost import money
from unitcost.facts.answers import OwnerShare
from unitcost.facts.naming import NOBODY, meant, spelt_owner
from unitcost.facts.rules import OWNER_KINDS, SplitRule
from unitcost.figure import Figure, figure_id, total
from unitcost.units import CENT_PLACES


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What a split divides: figures of the pool, by the owner each is taken from.

    Pools of one kind of owner hold no charge twice: see `pool_of`.
    """

    rule: SplitRule
    taken: Mapping[str, Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """What came of the splits in one currency.

    Parameters
    ----------
    shares
        What each owner has in the end, in sorted order.
    gave
        Names of the splits of which somebody received a part.
    notes
        (Name of the split, what it could not do as the settings say).
    """

    shares: tuple[OwnerShare, ...]
    gave: frozenset[str]
    notes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Part of the charges of one owner that belongs to another, as a listing of a store tells."""

    source: str
    owner: str
    amount: Figure


def pool_of(cell: Mapping[str, str | None], rules: Sequence[SplitRule]) -> int | None:
    """Number of the split whose pool holds a charge; the first that selects it takes it whole.

    Parameters
    ----------
    cell
        `team`, `project`, `experiment` and `driver` of the charge, as far as the rules select by them.
    rules
        Splits in the order of the settings.
    """
    for number, rule in enumerate(rules):
        if all(_selects(dimension, value, cell) for dimension, value in rule.of.items()):
            return number
    return None


def _selects(dimension: str, value: str, cell: Mapping[str, str | None]) -> bool:
    return dimension in cell and cell[dimension] == (meant(value) if dimension in OWNER_KINDS else value)


def apply_splits(
    direct: Mapping[str, Figure], pools: Sequence[Pool], *, unit: str, at: str, kind: str,
    metrics: Mapping[str, Mapping[str, Decimal]], others: Collection[str] = (), listed: Sequence[Listed] = (),
) -> Division:  # fmt: skip
    """Divide shared cost by the splits of the settings; the owners' amounts add up to the direct amounts.

    Parameters
    ----------
    direct
        Owner, spelt as in a report (`facts.naming`) -> figure of its own charges, in one currency.
    pools
        Splits in the order of the settings, each with what it takes and from whom. A pool that nobody can
        receive stays with those it came from. A pool that is an owner of this kind passes on what earlier
        splits gave it.
    unit
        Currency of the figures.
    at
        Tag of the selection, for figure ids.
    kind
        `team`, `project` or `experiment`.
    metrics
        Unit of output -> owner -> quantity, for splits by metric.
    others
        Owners that exist besides those with direct cost in this currency.
    listed
        What changes hands besides; no split takes it.
    """
    books = _Books(direct=direct, unit=unit, at=at, kind=kind)
    gave, notes = set(), list[tuple[str, str]]()
    for number, pool in enumerate(pools):
        own = books.weights_after(pool)
        receivers = _receivers(pool.rule, own, metrics, {*direct, *others})
        sources = {name: taken for name, taken in sorted(pool.taken.items()) if taken.value}
        for source, taken in sources.items():
            if receivers:
                books.give(number, pool.rule, source, taken, receivers)
                gave.add(pool.rule.name)
            else:
                notes.append((pool.rule.name, f"nobody receives it; {_amount(taken)} stays with {source}"))
        if sources:
            notes += [(pool.rule.name, says) for says in _left_out(pool, own, unit)]
        books.remember(pool)
    for move in listed:
        books.move(move)
    names = sorted({*direct, *books.shared, *books.given})
    shares = tuple(books.share(name) for name in names)
    return Division(shares=shares, gave=frozenset(gave), notes=tuple(notes))


def _receivers(
    rule: SplitRule, own: Mapping[str, Decimal], metrics: Mapping[str, Mapping[str, Decimal]], owners: Collection[str]
) -> dict[str, Decimal]:
    """Receiver -> weight above zero, in sorted order.

    Parameters
    ----------
    own
        Owner -> direct cost that no pool has taken. Without `among`, only an owner that has some receives.
    owners
        Owners that exist; who makes outputs and is none of them receives nothing by a metric.
    """
    among = [owner_named(name) for name in rule.among]
    if rule.how == "fixed":
        weights = {owner_named(name): share for name, share in rule.shares.items()}
    elif rule.how == "metric":
        made = metrics.get(rule.metric, {})
        weights = {name: quantity for name, quantity in made.items() if name in owners or name in among}
    elif rule.how == "even":
        names = among or [name for name, amount in own.items() if amount > 0 and name not in NOBODY]
        weights = dict.fromkeys(names, Decimal(1))
    else:
        weights = {name: amount for name, amount in own.items() if among or name not in NOBODY}
    if among:
        weights = {name: weight for name, weight in weights.items() if name in among}
    return {name: weight for name, weight in sorted(weights.items()) if weight > 0}


def _left_out(pool: Pool, own: Mapping[str, Decimal], unit: str) -> list[str]:
    """Who would receive by direct cost and does not, because it has less than none."""
    by_cost = pool.rule.how == "proportional" or (pool.rule.how == "even" and not pool.rule.among)
    among = {owner_named(name) for name in pool.rule.among} or own.keys() - NOBODY
    below = [name for name, amount in sorted(own.items()) if amount < 0 and name in among] if by_cost else []
    return [f"{', '.join(below)} receives nothing in {unit}: its direct cost is below zero"] if below else []


def owner_named(name: str) -> str:
    """Owner that the settings name, as the tables of owners spell it."""
    return spelt_owner(meant(name))


def _amount(figure: Figure) -> str:
    return f"{money.round_places(figure.value or money.ZERO, CENT_PLACES):,} {figure.unit}"


@dataclass(slots=True, kw_only=True)
class _Books:
    """What owners have, receive and give while splits are applied one after the other."""

    direct: Mapping[str, Figure]
    unit: str
    at: str
    kind: str
    shared: dict[str, list[Figure]] = field(default_factory=lambda: defaultdict(list))
    given: dict[str, list[Figure]] = field(default_factory=lambda: defaultdict(list))
    listed: dict[str, list[Figure]] = field(default_factory=lambda: defaultdict(list))
    unlisted: dict[str, list[Figure]] = field(default_factory=lambda: defaultdict(list))
    pooled: dict[str, list[Decimal]] = field(default_factory=lambda: defaultdict(list))

    def weights_after(self, pool: Pool) -> dict[str, Decimal]:
        """Direct cost of each owner, without what this pool and those before it take."""
        pooled = {name: [*amounts] for name, amounts in self.pooled.items()}
        for name, taken in pool.taken.items():
            pooled.setdefault(name, []).append(taken.value or money.ZERO)
        return {
            name: money.subtract(own.value or money.ZERO, money.add(pooled.get(name, ())))
            for name, own in self.direct.items()
        }

    def remember(self, pool: Pool) -> None:
        """Keep in mind what a pool took."""
        for name, taken in pool.taken.items():
            self.pooled[name].append(taken.value or money.ZERO)

    def give(self, number: int, rule: SplitRule, source: str, taken: Figure, receivers: Mapping[str, Decimal]) -> None:
        """Divide what is taken from one owner among the receivers."""
        received = self.shared.get(source, [])
        if received and self.kind in rule.of and owner_named(rule.of[self.kind]) == source:
            whole = total(
                self._id("pool", f"split{number}", source), (taken, *received), unit=self.unit, label=f"all of {source}"
            )
        else:
            whole = taken
        for owner, part in self._parts(number, rule, source, whole, receivers).items():
            self.shared[owner].append(part)
        self.given[source].append(whole)

    def move(self, listed: Listed) -> None:
        """Give a part of what one owner has to another."""
        self.shared[listed.owner].append(listed.amount)
        self.given[listed.source].append(listed.amount)
        self.listed[listed.owner].append(listed.amount)
        self.unlisted[listed.source].append(listed.amount)

    def _parts(
        self, number: int, rule: SplitRule, source: str, whole: Figure, receivers: Mapping[str, Decimal]
    ) -> dict[str, Figure]:
        weights = tuple(
            Figure(
                id=self._id("weight", f"split{number}", source, owner), value=weight, unit="weight", basis="derived",
                op="given", formula=f"weight of {owner} in {rule.name}", label=f"weight of {owner}",
            )
            for owner, weight in receivers.items()
        )  # fmt: skip
        amounts = money.split_amount(whole.value or money.ZERO, list(receivers.values()), places=rule.places)
        return {
            owner: Figure(
                id=self._id("shared", f"split{number}", source, owner), value=amount, unit=self.unit, basis="derived",
                op="split", formula=f"part of {owner} in {whole.label or source}: {rule.name}",
                inputs=(whole, *weights), part=index, places=rule.places, label=f"shared with {owner}",
            )
            for index, (owner, amount) in enumerate(zip(receivers, amounts, strict=True))
        }  # fmt: skip

    def share(self, name: str) -> OwnerShare:
        """What an owner has in the end."""
        own, shared, given = self.direct.get(name), self.shared.get(name, []), self.given.get(name, [])
        inputs = tuple(figure for figure in (own, *shared) if figure is not None)
        if not given:
            amount = total(self._id("owner", name), inputs, unit=self.unit, label=name)
        else:
            before = total(self._id("owner", name, "before"), inputs, unit=self.unit, label=f"{name} before giving")
            less = money.add(figure.value for figure in given if figure.value is not None)
            amount = Figure(
                id=self._id("owner", name), value=money.subtract(before.value or money.ZERO, less), unit=self.unit,
                basis="derived", op="difference", formula=f"{name} before giving - what is shared out",
                inputs=(before, *given), label=name,
            )  # fmt: skip
        return OwnerShare(
            owner=name, direct=own, shared=tuple(shared), amount=amount, given=tuple(given),
            listed=tuple(self.listed.get(name, ())), unlisted=tuple(self.unlisted.get(name, ())),
        )  # fmt: skip

    def _id(self, first: str, *steps: str) -> str:
        last = steps[1:] if first == "owner" else ()
        return figure_id(first, self.kind, *(steps[:1] if last else steps), self.unit, *last, at=self.at)
