"""Drivers, owners, lines, and totals by service, account, region and month."""

from __future__ import annotations

from collections import defaultdict

from unitcost import money
from unitcost.facts.answers import OwnerShare
from unitcost.facts.rules import UNTAGGED, OwnerKind
from unitcost.facts.spend import BESIDE_LINES, SpendRow
from unitcost.figure import Figure, figure_id
from unitcost.figure import total as sum_of
from unitcost.report import charts
from unitcost.report.figures import Made
from unitcost.report.inputs import DIMS, ReportInput, colours_of, shown_driver
from unitcost.report.model import Cell, Chart, Column, Section, Table
from unitcost.report.sections.tables import amount_tables, ranked, share

#: Said where a table shows owners before shared cost is divided.
BEFORE_SPLITS = "Before shared cost is divided: the tables of owners show it divided, and their totals are the same."


def drivers(given: ReportInput, made: Made) -> Section:
    """What the money is for."""
    by_unit = made.drivers
    rules = _rules(given.spend["driver"])
    tables = amount_tables(
        "driver", by_unit, given.amounts, names=("driver",), top=20,
        note_of=lambda key: rules.get(key[0] or "", ""), note_name="placed by",
    )  # fmt: skip
    notes = [_firm_note(given, unit) for unit in by_unit]
    bars = [
        Chart(name=f"drivers-{unit}", title=f"Spend by driver, {unit}", option=charts.bars(ranked(found), unit, colours_of(given)[1]),
              text=charts.in_words(ranked(found), unit))
        for unit, found in by_unit.items()
    ]  # fmt: skip
    return Section(
        key="drivers", title="Drivers", question="What is the money for?", tables=tables,
        notes=tuple(note for note in notes if note), charts=tuple(bars),
    )  # fmt: skip


def _rules(rows: list[SpendRow]) -> dict[str, str]:
    """Rules that placed rows under each shown driver, most rows first."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        driver, rule, line = row.keys
        counts[shown_driver(driver, line)][rule or ""] += row.row_count
    texts = {}
    for name, found in counts.items():
        order = sorted(found, key=lambda rule: (-found[rule], rule))
        texts[name] = ", ".join(order[:3]) + (f" and {len(order) - 3} more" if len(order) > 3 else "")
    return texts


def _firm_note(given: ReportInput, unit: str) -> str:
    answer = given.firmness.get("driver", {}).get(unit)
    if answer is None or not answer.largest:
        return ""
    if answer.firm:
        return (
            f"Largest: {answer.largest}. It stays the largest even if all that is unknown belonged to another driver."
        )
    others = ", ".join(answer.overtaking) or "the unknown itself"
    return f"Largest: {answer.largest}, but not firmly: with what is unknown, {others} could be larger."


#: Owners that have a row of their own, besides what has no known owner.
_MOST_OWNERS = 30
UNKNOWN_VALUE = "unknown value"


def owners(given: ReportInput, kind: OwnerKind) -> Section:
    """Who the money is spent by."""
    tables, notes = [], []
    for unit, shares in given.owners.get(kind, {}).items():
        tables.append(_owner_table(given, kind, unit))
        notes += [_owned_note(given, kind, unit)]
        names = [split.name for split in given.settings.splits if split.by == kind and split.name in given.dividing]
        if names and any(share.shared for share in shares):
            notes.append("Shared cost is divided by: " + "; ".join(names))
        if any(share.listed for share in shares):
            notes.append(f"What no {kind} owns of stores is divided by what their listings tell.")
    notes += [
        f"{note.split}: {note.says}" + ("" if note.says.endswith("?") else ".")
        for note in given.split_notes
        if note.kind == kind
    ]
    misses = [miss for miss in given.near_misses if miss.kind == kind]
    for miss in misses:
        near = f", near to {' or '.join(miss.near)}" if miss.near else ""
        notes.append(f"Unknown {miss.what} `{miss.found}`{near}: not merged." if miss.what == "value" else
                     f"Tag key `{miss.found}` looks like `{miss.near[0]}`: not read as such.")  # fmt: skip
    return Section(
        key=f"owners-{kind}", title=f"{kind.capitalize()}s", question=f"Which {kind} spends how much?",
        tables=tuple(tables), notes=tuple(note for note in notes if note),
    )  # fmt: skip


def _owner_table(given: ReportInput, kind: OwnerKind, unit: str) -> Table:
    """Owners, the largest first; direct and shared add up to the amount in each row and in the total."""
    shares = given.owners[kind][unit]
    how = _how_by_owner(given, kind, unit)
    at = given.selection.tag
    whole = given.amounts.total(f"owner-{kind}", unit, [s.amount for s in shares])
    has_shared = any(s.shared for s in shares)
    listed = sorted(shares, key=lambda s: (-(s.amount.value or 0), s.owner))
    shown, rest = _shown_owners(listed, how)
    rows: list[tuple[Cell, ...]] = []
    for found in shown:
        middle: list[Cell] = [found.direct, _shared(kind, unit, found, at)] if has_shared else []
        part = share(f"owner-{kind}", [found.owner], found.amount, whole, at)
        ways = ", ".join(filter(None, [how.get(found.owner), "listing" if found.listed else ""]))
        rows.append((None if found.owner == UNTAGGED else found.owner, *middle, found.amount, part, ways))
    if rest:
        rows.append(_rest_row(given, kind, unit, rest, whole, has_shared))
    columns = [Column(name=kind, none=UNTAGGED)]
    columns += [Column(name="direct", kind="money"), Column(name="shared", kind="money")] if has_shared else []
    columns += [Column(name=unit, kind="money"), Column(name="share", kind="share"), Column(name="known by")]
    sums = [
        _column_total(given, f"owner-{kind}-{name}", unit, rows, place)
        for place, name in ((1, "direct"), (2, "shared"))
    ]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        total=("total", *(sums if has_shared else ()), whole, "", ""),
        unit=unit,
    )


def _shown_owners(listed: list[OwnerShare], how: dict[str, str]) -> tuple[list[OwnerShare], list[OwnerShare]]:
    """Owners with rows of their own, and the small ones that share a row; what has no known owner stays visible."""
    small = [found for found in listed[_MOST_OWNERS:] if how.get(found.owner) not in ("", UNKNOWN_VALUE)]
    if len(small) < 2:
        return listed, []
    hidden = {found.owner for found in small}
    return [found for found in listed if found.owner not in hidden], small


def _rest_row(
    given: ReportInput, kind: OwnerKind, unit: str, rest: list[OwnerShare], whole: Figure, has_shared: bool
) -> tuple[Cell, ...]:
    at, name = given.selection.tag, f"other ({len(rest)})"
    direct = [found.direct for found in rest if found.direct]
    shared = [part for found in rest if (part := _shared(kind, unit, found, at))]
    amount = given.amounts.total(f"owner-{kind}-other", unit, [found.amount for found in rest], label=name)
    middle = [
        given.amounts.total(f"owner-{kind}-other-{what}", unit, parts, label=f"{name}, {what}")
        for what, parts in (("direct", direct), ("shared", shared))
    ]
    part = share(f"owner-{kind}", [name], amount, whole, at)
    return (name, *(middle if has_shared else ()), amount, part, "see --json")


def _column_total(given: ReportInput, path: str, unit: str, rows: list[tuple[Cell, ...]], place: int) -> Figure:
    return given.amounts.total(path, unit, [cell for row in rows if isinstance(cell := row[place], Figure)])


def _shared(kind: OwnerKind, unit: str, found: OwnerShare, at: str) -> Figure | None:
    """What an owner received of shared cost, less what it gave away; None when neither."""
    received = sum_of(
        figure_id("owner", kind, found.owner, unit, "shared", at=at), found.shared, unit=unit,
        label=f"shared with {found.owner}",
    )  # fmt: skip
    if not found.given:
        return received if found.shared else None
    gone = money.add(figure.value for figure in found.given if figure.value is not None)
    return Figure(
        id=figure_id("owner", kind, found.owner, unit, "shared-net", at=at),
        value=money.subtract(received.value or money.ZERO, gone), unit=unit, basis="derived", op="difference",
        formula="shared with it - shared out", inputs=(received, *found.given), label=f"shared with {found.owner}, net",
    )  # fmt: skip


def _how_by_owner(given: ReportInput, kind: OwnerKind, unit: str) -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for owner, how in given.owner_direct.get(kind, {}).get(unit, {}):
        found[owner or ""].add("" if how == UNTAGGED else how or "")
    return {owner: ", ".join(sorted(way for way in ways if way)) for owner, ways in found.items()}


def _owned_note(given: ReportInput, kind: OwnerKind, unit: str) -> str:
    shares = given.owned[kind].get(unit)
    if shares is None or shares.owned.value is None or shares.tagged.value is None:
        return ""
    article = "an" if kind == "experiment" else "a"
    before = " Both are before shared cost is divided." if given.divides else ""
    return (
        f"{charts.percent(shares.owned.value)} of the {unit} spend has {article} {kind}; "
        f"{charts.percent(shares.tagged.value)} is tagged directly.{before}"
    )


_GROUPS = {
    "services": ("service", "By service", "Which services cost the most?"),
    "accounts": ("account", "By account", "Which accounts cost the most?"),
    "regions": ("region", "By region", "Where is the money spent?"),
    "providers": ("provider", "By provider", "Whom is the money paid to?"),
    "lines": ("line", "Lines of the bill", "Which part is usage, tax, credit, unused commitment?"),
}


def group(given: ReportInput, made: Made, key: str) -> Section:
    """Totals by one dimension."""
    dim, title, question = _GROUPS[key]
    by_unit = made.groups[dim]
    return Section(
        key=key,
        title=title,
        question=question,
        tables=amount_tables(dim, by_unit, given.amounts, names=(dim,), dims=(dim,)),
    )


def months(given: ReportInput, made: Made) -> Section:
    """Totals by billing month and by month of use."""
    tables = []
    for dim in ("billing_month", "month"):
        by_unit = made.groups[dim]
        name = "billing month" if dim == "billing_month" else f"month of use, {given.selection.timezone}"
        tables += list(amount_tables(dim, by_unit, given.amounts, names=(name,), dims=(dim,), ordered=True))
    return Section(
        key="months", title="By month", question="How much per month, as billed and as used?", tables=tuple(tables),
        notes=("Books close on the billing month. By use, a charge that spans months is divided by time.",),
    )  # fmt: skip


def extra(given: ReportInput) -> Section | None:
    """The grouping that was asked for with --by."""
    if given.by is None:
        return None
    dims, rows = given.by
    by_unit = given.amounts.by_unit("by", dims, rows)
    return Section(
        key="by", title="By " + ", ".join(dims), question="The grouping that was asked for.",
        tables=amount_tables("by", by_unit, given.amounts, names=dims, dims=dims, top=10_000),
        notes=(BEFORE_SPLITS,) if given.divides else (),
    )  # fmt: skip


def untagged(given: ReportInput) -> Section:
    """What no team owns, largest first, and what it could change."""
    rows = [row for row in given.spend["untagged"] if row.keys[2] == UNTAGGED and row.keys[3] not in BESIDE_LINES]
    by_unit = given.amounts.by_unit("untagged", DIMS["untagged"], rows)
    notes, dims = [], ("resource", "service")
    grouped = given.amounts.regroup("untagged-by", by_unit, lambda key: (key[0], key[1]), dims)
    for unit in grouped:
        answer = given.firmness.get("team", {}).get(unit)
        if answer and answer.largest and not answer.firm:
            notes.append(
                f"Tagging it could put {', '.join(answer.overtaking) or 'another team'} before {answer.largest}."
            )
        elif answer and answer.largest:
            notes.append(f"It cannot change which team spends most ({answer.largest}).")
    return Section(
        key="untagged", title="Untagged", question="Which spend has no team, and what could it change?",
        tables=amount_tables("untagged-by", grouped, given.amounts, names=dims, dims=dims), notes=tuple(notes),
    )  # fmt: skip
