"""Mapping nodes -> SQL expressions over the cells of a scanned file.

Cells are columns `c0`, `c1` ... by position, so no header, however hostile, becomes part of a statement.
A cell is compiled three ways: as text, as an exact decimal, or as a moment; each way knows when a cell that
is not empty cannot be read (`bad`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from unitcost.errors import BadBill
from unitcost.facts import mapping as m
from unitcost.facts.source import Plan
from unitcost.units import LEDGER_PLACES

#: Places of the wide decimals that rounding residues are computed in.
WIDE_PLACES = 30
_FIRST_MOMENT, _LAST_MOMENT = "TIMESTAMP '1990-01-01'", "TIMESTAMP '2200-01-01'"
_LETTER_DATES = {
    "mdy": ("%m/%d/%y", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m-%d-%Y"),
    "dmy": ("%d/%m/%y", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%d-%m-%Y", "%d.%m.%Y"),
}


def literal(text: str) -> str:
    """Text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Check:
    """A cell that must be readable: its source column, when it is bad, and what to say then."""

    column: str
    cell: str
    bad: str
    reason: str


@dataclass(slots=True)
class Compiler:
    """Compiles the nodes of one plan.

    Parameters
    ----------
    plan
        Whose mapping is compiled.
    types
        Type of each cell column, `VARCHAR` throughout for a csv.

    Notes
    -----
    What is compiled stands on two layers of the statement, so that each cell is taken up and each cast made once:
    `cells` (`x3`: text of the fourth cell, null when empty) and, over it, `reads` (`n3`: the cell as a decimal,
    `l3`: whether it has more places than are kept, `t3`: as a moment). They fill up while nodes are compiled.
    """

    plan: Plan
    types: Sequence[str]
    checks: dict[str, Check] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    cells: dict[str, str] = field(default_factory=dict)
    reads: dict[str, str] = field(default_factory=dict)

    def position(self, name: str) -> int | None:
        """Position of a source column: the exact name first, then letter case ignored."""
        columns = self.plan.scan.columns
        if name in columns:
            return columns.index(name)
        folded = name.casefold()
        return next((i for i, column in enumerate(columns) if column.casefold() == folded), None)

    # --- text -------------------------------------------------------------------------------------------

    def cell(self, position: int) -> str:
        """Text of a cell; null when it is empty or says so."""
        name = f"x{position}"
        if name not in self.cells:
            self.cells[name] = self._cell(position)
        return name

    def native(self, position: int) -> str:
        """Cell in the type that the file itself has."""
        name = f"c{position}"
        self.cells[name] = name
        return name

    def _cell(self, position: int) -> str:
        raw = f"c{position}" if self.types[position] == "VARCHAR" else f"CAST(c{position} AS VARCHAR)"
        cell = raw
        for spelling in ("", *self.plan.nulls):
            cell = f"nullif({cell}, {literal(spelling)})"
        return cell

    def text(self, node: m.Expr) -> str:
        """Node as text."""
        match node:
            case m.Field(name):
                position = self.position(name)
                if position is None:
                    return "CAST(NULL AS VARCHAR)"
                self.used.add(position)
                return self.cell(position)
            case m.Const(text):
                return literal(text)
            case m.First(of):
                return f"coalesce({', '.join(self.text(n) for n in of)})"
            case m.Choose(branches, otherwise):
                return self._choose(branches, otherwise, self.text)
            case m.JoinText(of, separator):
                return f"nullif(concat_ws({literal(separator)}, {', '.join(self.text(n) for n in of)}), '')"
            case m.Between(of, start, end):
                return self._between(self.text(of), start, end)
            case _:
                raise BadBill(f"a {type(node).__name__} cannot be text", where=self.plan.reader)

    def _between(self, text: str, start: str, end: str) -> str:
        low, begin, stop = f"lower({text})", literal(start.lower()), literal(end.lower())
        first = f"(instr({low}, {begin}) + {len(start)})"
        rest = f"substr({text}, {first})"
        until = (
            f"CASE WHEN instr(lower({rest}), {stop}) > 0 THEN instr(lower({rest}), {stop}) - 1 ELSE length({rest}) END"
        )
        return f"(CASE WHEN instr({low}, {begin}) > 0 THEN nullif(left({rest}, {until}), '') END)"

    def _choose(self, branches: tuple[tuple[m.Condition, m.Expr], ...], otherwise: m.Expr, way: object) -> str:
        assert callable(way)
        whens = " ".join(f"WHEN {self.condition(c)} THEN {way(n)}" for c, n in branches)
        return f"(CASE {whens} ELSE {way(otherwise)} END)"

    # --- conditions -------------------------------------------------------------------------------------

    def condition(self, node: m.Condition) -> str:
        """Condition that is true or false, never null."""
        match node:
            case m.Equals(of, values):
                listed = ", ".join(literal(value.casefold()) for value in values)
                return f"coalesce(lower({self.text(of)}) IN ({listed}), false)"
            case m.Matches(of, glob):
                pattern = glob.casefold().replace("[", "[[]")
                return f"coalesce(lower({self.text(of)}) GLOB {literal(pattern)}, false)"
            case m.IsNull(of):
                return f"({self.text(of)} IS NULL)"
            case m.IsZero(of):
                return f"coalesce({self.decimal(of)} = 0, false)"
            case m.Not(of):
                return f"(NOT {self.condition(of)})"
            case m.Every(of):
                return "(" + " AND ".join(self.condition(n) for n in of) + ")"
            case m.Any(of):
                return "(" + " OR ".join(self.condition(n) for n in of) + ")"

    # --- exact decimals ---------------------------------------------------------------------------------

    def decimal(self, node: m.Expr, places: int = LEDGER_PLACES) -> str:
        """Node as DECIMAL(38, places), rounded half away from zero when it has more."""
        kind = f"DECIMAL(38,{places})"
        match node:
            case m.Field(name):
                position = self.position(name)
                return f"CAST(NULL AS {kind})" if position is None else self._number(position, places)
            case m.Const(text):
                return f"CAST({literal(text)} AS {kind})"
            case m.First(of):
                return f"coalesce({', '.join(self.decimal(n, places) for n in of)})"
            case m.Total(of):
                parts = [self.decimal(n, places) for n in of]
                added = " + ".join(f"coalesce({part}, CAST(0 AS {kind}))" for part in parts)
                return f"(CASE WHEN coalesce({', '.join(parts)}) IS NOT NULL THEN CAST({added} AS {kind}) END)"
            case m.Negative(of):
                return f"(-{self.decimal(of, places)})"
            case m.Choose(branches, otherwise):
                return self._choose(branches, otherwise, lambda n: self.decimal(n, places))
            case m.JsonSum(of, member):
                return self._json_sum(of, member, kind)
            case _:
                raise BadBill(f"a {type(node).__name__} cannot be an amount", where=self.plan.reader)

    def _number(self, position: int, places: int) -> str:
        self.used.add(position)
        if places != LEDGER_PLACES:
            return self._read_number(position, places)
        name = f"n{position}"
        if name not in self.reads:
            self.reads[name] = self._read_number(position, places)
            self._check_number(position)
        return name

    def _check_number(self, position: int) -> None:
        """A number must be readable, and no finer than can be kept exactly."""
        if self._is_exact_type(position):
            return
        name, cell, long = self.plan.scan.columns[position], self.cell(position), self.is_long(position)
        reason = "is not a number that the ledger can keep (a decimal of at most 26 digits before the point)"
        self.checks[f"n{position}"] = Check(
            name, cell, f"CASE WHEN n{position} IS NULL THEN trim({cell}) <> '' ELSE false END", reason
        )
        fine = "has more digits than can be kept exactly (38 in all)"
        self.checks[f"w{position}"] = Check(
            name, cell, f"CASE WHEN {long} THEN NOT {self._is_exact_wide(position)} ELSE false END", fine
        )

    def _read_number(self, position: int, places: int) -> str:
        kind = f"DECIMAL(38,{places})"
        if self._is_exact_type(position):
            return f"TRY_CAST({self.native(position)} AS {kind})"
        text = self._number_text(position)
        value = f"TRY_CAST({text} AS {kind})"
        # A cast accepts digits parted by underscores; a bill does not mean that.
        return f"(CASE WHEN contains({text}, '_') THEN NULL ELSE {value} END)"

    def _is_exact_type(self, position: int) -> bool:
        kind = self.types[position]
        return kind.startswith("DECIMAL") or kind.endswith("INT") or kind.endswith("INTEGER")

    def _number_text(self, position: int) -> str:
        cell = self.cell(position)
        if self.plan.scan.columns[position] in self.plan.currency_signs:
            bare = f"replace(replace(replace({cell}, '$', ''), '€', ''), '£', '')"
            thousands = "." if self.plan.decimal_comma else ","
            return self._point(f"nullif(trim(replace({bare}, '{thousands}', '')), '')")
        return self._point(cell)

    def _point(self, text: str) -> str:
        return f"replace({text}, ',', '.')" if self.plan.decimal_comma else text

    def is_long(self, position: int) -> str:
        """Whether a number has more places than the ledger keeps; cheap for the usual short cell."""
        if self._is_exact_type(position):
            return "false"
        name = f"l{position}"
        if name not in self.reads:
            self.reads[name] = self._is_long(self._number_text(position))
        return name

    def _is_long(self, text: str) -> str:
        # A CASE is worked out only for the rows that need it; a conjunction would be for all.
        may_be = f"length({text}) > {LEDGER_PLACES + 1} OR contains({text}, 'e') OR contains({text}, 'E')"
        return f"(CASE WHEN {may_be} THEN coalesce({self._places(text)} > {LEDGER_PLACES}, false) ELSE false END)"

    def _places(self, text: str) -> str:
        mantissa = f"trim(split_part(lower({text}), 'e', 1))"
        fraction = f"length(rtrim(split_part({mantissa}, '.', 2), '0'))"
        exponent = f"coalesce(TRY_CAST(nullif(split_part(lower({text}), 'e', 2), '') AS INTEGER), 0)"
        return f"({fraction} - {exponent})"

    def _is_exact_wide(self, position: int) -> str:
        text = self._number_text(position)
        small = f"abs(TRY_CAST({text} AS DOUBLE)) < 9e7"
        return f"coalesce({self._places(text)} <= {WIDE_PLACES} AND {small}, false)"

    def _json_sum(self, of: m.Expr, member: str, kind: str) -> str:
        text = self.text(of)
        path = literal(f"$[*].{member}")
        amounts = f"TRY(json_extract_string({text}, {path}))"
        self.checks[f"j{text}"] = Check(
            of.name if isinstance(of, m.Field) else "", text,
            f"({text} IS NOT NULL AND TRY(json_array_length({text})) IS NULL)", "is not a JSON list",
        )  # fmt: skip
        total = f"list_aggregate(list_transform({amounts}, x -> CAST(x AS {kind})), 'sum')"
        return f"(CASE WHEN {text} IS NOT NULL THEN coalesce(TRY(CAST({total} AS {kind})), CAST(0 AS {kind})) END)"

    def positions(self, node: m.Expr) -> set[int]:
        """Cells that an amount is made of."""
        match node:
            case m.Field(name):
                position = self.position(name)
                return set() if position is None else {position}
            case m.First(of) | m.Total(of):
                return set().union(*(self.positions(n) for n in of)) if of else set()
            case m.Negative(of):
                return self.positions(of)
            case m.Choose(branches, otherwise):
                return self.positions(otherwise).union(*(self.positions(n) for _, n in branches))
            case _:
                return set()

    # --- moments ----------------------------------------------------------------------------------------

    def moment(self, node: m.Expr) -> str:
        """Node as a UTC TIMESTAMP."""
        match node:
            case m.Time(of, shift_days, snap):
                read = self.moment(of)
                if shift_days:
                    read = f"({read} + INTERVAL {int(shift_days)} DAY)"
                if snap:
                    read = f"date_trunc('month', {read})"
                return f"({read} + INTERVAL 1 MONTH)" if snap == "next-month-start" else read
            case m.YearMonth(of, after):
                read = f"TRY_STRPTIME({self.text(of)} || '01', '%Y%m%d')"
                return f"({read} + INTERVAL 1 MONTH)" if after else read
            case m.First(of):
                return f"coalesce({', '.join(self.moment(n) for n in of)})"
            case m.Choose(branches, otherwise):
                return self._choose(branches, otherwise, self.moment)
            case m.Field(name):
                position = self.position(name)
                return "CAST(NULL AS TIMESTAMP)" if position is None else self._time_cell(position)
            case m.Const(text):
                return f"CAST({literal(text)} AS TIMESTAMP)"
            case _:
                raise BadBill(f"a {type(node).__name__} cannot be a moment", where=self.plan.reader)

    def _time_cell(self, position: int) -> str:
        self.used.add(position)
        name = f"t{position}"
        if name not in self.reads:
            self.reads[name] = self._read_time(position)
        return name

    def _read_time(self, position: int) -> str:
        kind = self.types[position]
        if kind.startswith("TIMESTAMP") or kind == "DATE":
            return f"CAST({self.native(position)} AS TIMESTAMP)"
        name, cell, read = self.plan.scan.columns[position], self.cell(position), f"t{position}"
        outside = f"({read} < {_FIRST_MOMENT} OR {read} > {_LAST_MOMENT})"
        bad = f"CASE WHEN {read} IS NULL THEN trim({cell}) <> '' ELSE {outside} END"
        self.checks[read] = Check(name, cell, bad, "is not a date between 1990 and 2200")
        return self._time_text(cell)

    def _time_text(self, text: str) -> str:
        with_offset = f"CAST(TRY_CAST({text} AS TIMESTAMPTZ) AS TIMESTAMP)"
        local = f"TRY_CAST({text} AS TIMESTAMP)"
        if self.plan.timezone != "UTC":
            zone = f"TRY(CAST(timezone({literal(self.plan.timezone)}, {local}) AS TIMESTAMP))"
            has_offset = (
                f"regexp_matches({text}, '([+-][0-9]{{2}}(:?[0-9]{{2}})?|[zZ]| UTC)\\s*$') AND length({text}) > 10"
            )
            iso = f"(CASE WHEN {has_offset} THEN {with_offset} ELSE {zone} END)"
        else:
            # Without an offset the plain cast is the same and cheaper; with one it would drop it.
            plain = f"length({text}) IN (10, 19, 20) AND substr({text}, 17, 1) IN ('', ':')"
            iso = f"(CASE WHEN {plain} THEN {local} ELSE {with_offset} END)"
        if self.plan.date_order == "iso":
            return iso
        formats = ", ".join(literal(f) for f in _LETTER_DATES[self.plan.date_order])
        return f"coalesce(TRY_STRPTIME(trim({text}), [{formats}]), {iso})"

    # --- tags -------------------------------------------------------------------------------------------

    def tags(self, node: m.Expr) -> str:
        """Node as MAP(VARCHAR, VARCHAR); null where there are none or they cannot be read."""
        match node:
            case m.JsonTags(of):
                return self._json_tags(of)
            case m.LabelTags(of):
                rows = f'from_json({self.text(of)}, \'[{{"key":"VARCHAR","value":"VARCHAR"}}]\')'
                return f"TRY(map_from_entries(list_transform({rows}, x -> {{'k': x.key, 'v': x.value}})))"
            case m.ColumnTags(pairs):
                return self._column_tags(pairs)
            case m.MergedTags(of):
                merged = [f"coalesce({self.tags(n)}, MAP {{}})" for n in reversed(of)]
                return f"CAST(map_concat({', '.join(merged)}) AS MAP(VARCHAR, VARCHAR))"
            case m.Field(_) | m.First(_) | m.Choose(_, _):
                return self._json_tags(node)
            case _:
                raise BadBill(f"a {type(node).__name__} cannot be tags", where=self.plan.reader)

    def _json_tags(self, of: m.Expr) -> str:
        if isinstance(of, m.Field):
            position = self.position(of.name)
            if position is not None and self.types[position].startswith(("MAP", "STRUCT")):
                self.used.add(position)
                if self.types[position].startswith("MAP"):
                    return f"TRY_CAST({self.native(position)} AS MAP(VARCHAR, VARCHAR))"
                return f"TRY(from_json(to_json({self.native(position)}), '\"MAP(VARCHAR,VARCHAR)\"'))"
        return f"TRY(from_json({self.text(of)}, '\"MAP(VARCHAR,VARCHAR)\"'))"

    def _column_tags(self, pairs: tuple[tuple[str, str], ...]) -> str:
        entries = []
        for key, column in pairs:
            position = self.position(column)
            if position is not None:
                self.used.add(position)
                entries.append(f"{{'k': {literal(key)}, 'v': {self.cell(position)}}}")
        if not entries:
            return "CAST(NULL AS MAP(VARCHAR, VARCHAR))"
        return f"map_from_entries(list_filter([{', '.join(entries)}], x -> x.v IS NOT NULL))"

    def extra(self) -> str:
        """Map of the cells that no mapping has used; call it last."""
        names: dict[str, int] = {}
        for position, name in enumerate(self.plan.scan.columns):
            if position not in self.used:
                names.setdefault(name if name not in names else f"{name} ({position})", position)
        entries = [f"{{'k': {literal(name)}, 'v': {self.cell(position)}}}" for name, position in names.items()]
        if not entries:
            return "CAST(NULL AS MAP(VARCHAR, VARCHAR))"
        return f"map_from_entries(list_filter([{', '.join(entries)}], x -> x.v IS NOT NULL))"
