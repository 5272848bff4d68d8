"""The shape of `unitcost.toml`, for pydantic; each key is described in docs/reference/settings.md."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from unitcost import money
from unitcost.errors import UnitcostError, UnknownName
from unitcost.facts.days import check_day, month_start
from unitcost.facts.encodings import codec_of
from unitcost.facts.measured import GAP_INTERVALS
from unitcost.facts.pricing import pricing_category
from unitcost.facts.when import facet_column, parse
from unitcost.facts.work import WORKLOAD_DRIVERS
from unitcost.facts.zones import zone_of
from unitcost.units import CENT_PLACES, LEDGER_PLACES

#: Amounts from here on are no amounts of money.
_TOO_LARGE = Decimal(10) ** 20


def _exact(value: Any) -> Any:
    """TOML amounts come as Decimal, whole number or text; anything else is left for pydantic to refuse."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = Decimal(value)
    read = money.parse_amount(value) if isinstance(value, str) else value
    if isinstance(read, Decimal) and read.is_finite() and abs(read) >= _TOO_LARGE:
        raise ValueError("is larger than any amount of money")
    return read


def _said(error: UnitcostError) -> ValueError:
    mend = "" if "did you mean" in error.what else error.mend
    return ValueError(f"{error.what}; {mend}" if mend else error.what)


def _category(word: str) -> str:
    """Pricing category, in any of its words; empty holds for all."""
    try:
        return pricing_category(word) if word else ""
    except UnknownName as error:
        raise _said(error) from None


def _condition(text: str) -> str:
    try:
        parse(text)
    except UnitcostError as error:
        raise _said(error) from None
    return text


def _source(text: str) -> str:
    try:
        return facet_column(text)
    except UnitcostError as error:
        raise _said(error) from None


def _zone(text: str) -> str:
    try:
        if text:
            zone_of(text)
    except UnitcostError as error:
        raise _said(error) from None
    return text


def _day(day: date) -> date:
    try:
        return check_day(day)
    except UnitcostError as error:
        raise _said(error) from None


def _month(text: str) -> str:
    try:
        if text:
            month_start(text)
    except UnitcostError as error:
        raise _said(error) from None
    return text


def _encoding(text: str) -> str:
    try:
        if text:
            codec_of(text)
    except UnitcostError as error:
        raise _said(error) from None
    return text


def currency_code(text: str) -> str:
    """Currency as the ledger writes it: ISO codes in capitals, own units (`credits`) as they are."""
    stripped = text.strip()
    return stripped.upper() if len(stripped) == 3 and stripped.isalpha() else stripped


def _places(value: Any) -> Any:
    return CENT_PLACES if value == "cents" else value


Amount = Annotated[Decimal, BeforeValidator(_exact)]
Condition = Annotated[str, AfterValidator(_condition)]
Currency = Annotated[str, AfterValidator(currency_code)]
Encoding = Annotated[str, AfterValidator(_encoding)]
Day = Annotated[date, AfterValidator(_day)]
Month = Annotated[str, AfterValidator(_month)]
Name = Annotated[str, Field(min_length=1)]
Places = Annotated[int, BeforeValidator(_places), Field(ge=0, le=LEDGER_PLACES)]
Source = Annotated[str, AfterValidator(_source)]
Zone = Annotated[str, AfterValidator(_zone)]
Kind = Literal["team", "project", "experiment"]


class Table(BaseModel):
    """A TOML table: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class LedgerTable(Table):
    """[ledger]."""

    store: str = "duckdb:///.unitcost/ledger.duckdb"
    cost: Literal["billed", "effective", "list", "contracted"] = "effective"
    currency: Annotated[Currency, Field(min_length=1)] = "USD"
    timezone: Annotated[Zone, Field(min_length=1)] = "UTC"


class LoadTable(Table):
    """One [[load]]."""

    path: Name
    reader: str = ""
    currency: Currency = ""
    period: Month = ""
    date_order: Literal["", "mdy", "dmy"] = ""
    decimal_comma: bool = False
    timezone: Zone = ""
    encoding: Encoding = ""
    delimiter: str = ""
    provider: str = ""
    columns: dict[str, str] = {}
    rates: str = ""
    replace: Literal["", "period"] = ""
    version: str = ""
    part: bool = False


class RuleTable(Table):
    """One of `rules` of an owner kind, or one [[drivers]]."""

    when: Condition
    is_: Name = Field(alias="is")


class OwnerTable(Table):
    """[owners.team], [owners.project], [owners.experiment]."""

    from_: list[Source] = Field(default=[], alias="from")
    rules: list[RuleTable] = []
    known: list[Name] = []
    inherit: list[Literal["account", "resource_group"]] | dict[str, str] = []
    ignore_case: bool = True


class OwnersTable(Table):
    """[owners]."""

    team: OwnerTable = OwnerTable()
    project: OwnerTable = OwnerTable()
    experiment: OwnerTable = OwnerTable()
    lineage: dict[str, str] = {}


class SplitTable(Table):
    """One [[split]]."""

    of: dict[Literal["team", "project", "experiment", "driver"], Name]
    how: Literal["even", "proportional", "fixed", "metric"]
    by: Kind = "team"
    shares: dict[str, Amount] = {}
    metric: str = ""
    among: list[Name] = []
    places: Places = LEDGER_PLACES

    @model_validator(mode="after")
    def _complete(self) -> SplitTable:
        if len(self.of) != 1:
            raise ValueError("`of` names one owner or driver, such as { project = 'platform' }")
        if self.how == "fixed" and not any(self.shares.values()):
            raise ValueError("a fixed split needs `shares`, such as { risk = 0.5, search = 0.5 }")
        if any(share < 0 for share in self.shares.values()):
            raise ValueError("a share is negative")
        if self.how == "metric" and not self.metric:
            raise ValueError("a split by metric needs `metric`, a unit of the outputs")
        return self


class ChargeTable(Table):
    """One [[charge]]."""

    what: Name
    usd: Amount | None = None
    amount: Amount | None = None
    currency: Currency = ""
    on: Day
    owner: dict[Kind, Name] = {}
    driver: str = ""

    @model_validator(mode="after")
    def _one_amount(self) -> ChargeTable:
        if (self.usd is None) == (self.amount is None):
            raise ValueError("give either `usd`, or `amount` and `currency`")
        if (self.amount is None) != (not self.currency):
            raise ValueError("`amount` and `currency` belong together")
        return self


class InvoiceTable(Table):
    """One [[invoice]]."""

    id: Name
    total: Amount
    currency: Annotated[Currency, Field(min_length=1)] = "USD"
    period: Month = ""
    provider: str = ""


class QualityTable(Table):
    """[quality.SERVICE]."""

    metric: Name
    bar: Amount
    margin: Annotated[Amount, Field(ge=0)] = Decimal(0)
    error_cost_usd: Annotated[Amount, Field(ge=0)] | None = None


class WorkPriceTable(Table):
    """One of `prices` of [work]."""

    accelerator: Name
    usd_per_hour: Annotated[Amount, Field(ge=0)]
    pricing_category: Annotated[str, AfterValidator(_category)] = ""
    from_: Day | None = Field(default=None, alias="from")


class WorkTable(Table):
    """[work]."""

    billing: Literal["accelerators", "weights", "larger"] = "accelerators"
    accepted: str = ""
    prices: list[WorkPriceTable] = []
    kinds: list[RuleTable] = []
    gap_intervals: Annotated[int, Field(ge=1, le=1000)] = GAP_INTERVALS

    @model_validator(mode="after")
    def _kinds_known(self) -> WorkTable:
        for rule in self.kinds:
            if rule.is_ not in WORKLOAD_DRIVERS:
                raise ValueError(str(UnknownName("kind of work", rule.is_, WORKLOAD_DRIVERS)))
        return self


class PricesTable(Table):
    """[prices]."""

    files: list[Name] = []
    litellm: list[Name] = []
    aliases: dict[str, Name] = {}
    same_as: dict[str, list[Name]] = {}
    self_hosted: list[Name] = []


class CallsTable(Table):
    """[calls]."""

    counts: str = ""


class RateTable(Table):
    """One rate of a currency in [fx]; the key beside `from` is the report currency in lower case."""

    model_config = ConfigDict(extra="allow", strict=True)

    from_: Day = Field(alias="from")

    def rate(self, currency: str) -> Decimal:
        """What one unit is in `currency`; raises ValueError when the rate does not say just that."""
        given = self.model_extra or {}
        key = currency.lower()
        if set(given) != {key}:
            found = ", ".join(given) or "nothing"
            raise ValueError(f"a rate says what one unit is in `{key}`, found {found}")
        rate = _exact(given[key])
        if not isinstance(rate, Decimal) or not rate.is_finite() or rate <= 0:
            raise ValueError(f"the rate {given[key]!r} is not a positive number")
        return rate


class File(Table):
    """The whole file."""

    ledger: LedgerTable = LedgerTable()
    fx: dict[str, list[RateTable]] = {}
    load: list[LoadTable] = []
    owners: OwnersTable = OwnersTable()
    drivers: list[RuleTable] = []
    split: list[SplitTable] = []
    charge: list[ChargeTable] = []
    invoice: list[InvoiceTable] = []
    quality: dict[str, QualityTable] = {}
    work: WorkTable = WorkTable()
    prices: PricesTable = PricesTable()
    calls: CallsTable = CallsTable()
