"""What became of paid capacity: used, allocated but idle, held with its use unknown, or held by nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from unitcost import money
from unitcost.attribution.capacity import Held, Period, Shares, Use, cut, shares_of, use_weights
from unitcost.facts.capacity import Capacity, State, StatePart
from unitcost.figure import Figure, figure_id

_USES: tuple[State, ...] = ("used", "allocated idle", "use unknown")
_PICO = -12
#: Names of what no workload held, and of what may have been held: nothing tells.
_NOBODY, _UNTOLD = "(nobody)", "(not told)"
_WORDS = {_NOBODY: "held by nobody", _UNTOLD: "nothing tells who held it"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """Charges of one place at one hourly rate: their figure, and the periods that they paid for."""

    place: str
    rate: str
    driver: str
    charges: Figure
    periods: tuple[Period, ...]


@dataclass(slots=True, kw_only=True)
class CapacitySplitter:
    """Divides charges among those who held what they paid for; the parts of each add up to it.

    Parameters
    ----------
    held
        Place -> who held what of it.
    capacities
        Place -> accelerators, where that is known.
    uses
        (place, workload) -> how busy it was; what is missing was not watched.
    at
        Tag of the selection, for figure ids.
    told
        Place -> time of which schedulers told who held it; one that is missing was told of always. What was paid for
        outside of it was held by nobody knows whom.
    """

    held: Mapping[str, Sequence[Held]]
    capacities: Mapping[str, Decimal]
    uses: Mapping[tuple[str, str], Use]
    at: str
    told: Mapping[str, Period] = field(default_factory=dict)
    _over: set[str] = field(default_factory=set)
    _guessed: set[str] = field(default_factory=set)
    _untold: set[str] = field(default_factory=set)

    def split(self, paid: Sequence[Paid]) -> Capacity:
        """Parts of all charges, in the order given."""
        parts = [part for group in paid for part in self._parts(group)]
        return Capacity(
            parts=tuple(parts),
            matched=tuple((group.driver, group.charges) for group in paid),
            notes=tuple(self._notes()),
        )

    def _parts(self, paid: Paid) -> list[StatePart]:
        inside, untold_us = cut(paid.periods, self.told.get(paid.place))
        shares = shares_of(self.capacities.get(paid.place), inside, self.held.get(paid.place, ()))
        if shares.over_us:
            self._over.add(paid.place)
        if not shares.capacity_known:
            self._guessed.add(paid.place)
        if not shares.whole or paid.charges.value is None:
            # Nothing says who had it when it was paid for: a charge without length, or a place nobody held then.
            return [self._part(paid, "", "use unknown", paid.charges)]
        untold = shares.steps * untold_us
        if untold:
            self._untold.add(paid.place)
        return [
            part for name, amount in self._by_holder(paid, shares, untold) for part in self._by_use(paid, name, amount)
        ]

    def _by_holder(self, paid: Paid, shares: Shares, untold: int) -> list[tuple[str, Figure]]:
        """Part of each holder, of nobody, and of nobody knows whom."""
        rest = {_NOBODY: shares.unallocated, _UNTOLD: untold}
        receivers = [*shares.held.items(), *((name, steps) for name, steps in rest.items() if steps)]
        weights = tuple(self._given(paid, name, "held", Decimal(steps).scaleb(_PICO)) for name, steps in receivers)
        names = [name for name, _ in receivers]
        return list(zip(names, self._divide(paid, paid.charges, names, weights, "held"), strict=True))

    def _by_use(self, paid: Paid, workload: str, amount: Figure) -> list[StatePart]:
        if workload in (_NOBODY, _UNTOLD):
            return [self._part(paid, "", "unallocated" if workload == _NOBODY else "use unknown", amount)]
        use = self.uses.get((paid.place, workload))
        if use is None:
            return [self._part(paid, workload, "use unknown", amount)]
        states = [(state, weight) for state, weight in zip(_USES, use_weights(use), strict=True) if weight]
        weights = tuple(self._given(paid, workload, state, weight, "share") for state, weight in states)
        names = [f"{workload}, {state}" for state, _ in states]
        figures = self._divide(paid, amount, names, weights, "use")
        return [self._part(paid, workload, state, figure) for (state, _), figure in zip(states, figures, strict=True)]

    def _part(self, paid: Paid, workload: str, state: State, amount: Figure) -> StatePart:
        return StatePart(place=paid.place, workload=workload, state=state, amount=amount, driver=paid.driver)

    def _divide(
        self, paid: Paid, whole: Figure, names: Sequence[str], weights: tuple[Figure, ...], what: str
    ) -> list[Figure]:
        assert whole.value is not None
        values = money.split_amount(whole.value, [weight.value or money.ZERO for weight in weights])
        by = "accelerator-seconds held" if what == "held" else "measured use"
        return [
            Figure(
                id=self._id(paid, name, what), value=value, unit=whole.unit, basis="derived", op="split",
                formula=f"charges of {paid.place} in proportion to {by}", inputs=(whole, *weights), part=number,
                label=f"{paid.place}: {_WORDS.get(name, name)}",
            )
            for number, (name, value) in enumerate(zip(names, values, strict=True))
        ]  # fmt: skip

    def _given(self, paid: Paid, name: str, what: str, value: Decimal, unit: str = "accelerator-seconds") -> Figure:
        return Figure(
            id=self._id(paid, name, what, "weight"), value=value, unit=unit, basis="measured", op="given",
            formula="from what schedulers and monitoring told", label=f"{name}: {what}",
        )  # fmt: skip

    def _id(self, paid: Paid, *steps: str) -> str:
        return figure_id("capacity", paid.place, paid.rate, paid.driver, paid.charges.unit, *steps, at=self.at)

    def _notes(self) -> list[str]:
        notes = []
        if self._over:
            notes.append(
                f"More was promised than there is on {_named(self._over)}; what each one held there is scaled down to "
                "what was paid for."
            )
        if self._guessed:
            notes.append(
                f"How many accelerators {_named(self._guessed)} had is not known; the most that were held at once "
                "count. Node capacity (kube-state-metrics, or a resources csv) would settle it."
            )
        if self._untold:
            notes.append(
                f"What schedulers told ends before, or begins after, what was paid for {_named(self._untold)}: who held "
                "that is unknown. Their records of the whole range would settle it."
            )
        return notes


def _named(places: set[str], most: int = 3) -> str:
    listed = sorted(places)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
