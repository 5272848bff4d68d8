"""The shape of `unitcost.toml`, for pydantic. Field docs are the reference; a test compares them with the docs."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _exact(value: Any) -> Any:
    """TOML amounts come as Decimal, int or text; a float would have lost digits."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Amount = Annotated[Decimal, BeforeValidator(_exact)]
Month = Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]


class Table(BaseModel):
    """A TOML table: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, populate_by_name=True)


class LedgerTable(Table):
    """[ledger]."""

    store: str = "duckdb:///.unitcost/ledger.duckdb"
    cost: Literal["billed", "effective", "list", "contracted"] = "effective"
    currency: str = Field(default="USD", min_length=1)
    timezone: str = "UTC"


class LoadTable(Table):
    """One [[load]]."""

    path: str = Field(min_length=1)
    reader: str = ""
    currency: str = ""
    period: Month | Literal[""] = ""
    date_order: Literal["", "mdy", "dmy"] = ""
    decimal_comma: bool = False
    timezone: str = ""
    encoding: str = ""
    delimiter: str = ""
    provider: str = ""
    columns: dict[str, str] = {}
    rates: str = ""
    replace: Literal["", "period"] = ""
    version: str = ""
    part: bool = False


class OwnerRuleTable(Table):
    """One entry of `rules` of an owner kind."""

    when: str
    is_: str = Field(alias="is")


class OwnerTable(Table):
    """[owners.team], [owners.project], [owners.experiment]."""

    from_: list[str] = Field(default=[], alias="from")
    rules: list[OwnerRuleTable] = []
    known: list[str] = []
    inherit: list[Literal["account", "resource_group"]] = []
    ignore_case: bool = True


class OwnersTable(Table):
    """[owners]."""

    team: OwnerTable = OwnerTable()
    project: OwnerTable = OwnerTable()
    experiment: OwnerTable = OwnerTable()
    lineage: dict[str, str] = {}


class DriverTable(Table):
    """One [[drivers]]."""

    when: str
    is_: str = Field(alias="is")


class SplitTable(Table):
    """One [[split]]."""

    of: dict[Literal["team", "project", "experiment", "driver"], str]
    how: Literal["even", "proportional", "fixed", "metric"]
    by: Literal["team", "project", "experiment"] = "team"
    shares: dict[str, Amount] = {}
    metric: str = ""
    among: list[str] = []
    places: int = Field(default=12, ge=0, le=12)

    @model_validator(mode="after")
    def _complete(self) -> SplitTable:
        if len(self.of) != 1:
            raise ValueError("`of` names one owner or driver, such as { project = 'platform' }")
        if self.how == "fixed" and not self.shares:
            raise ValueError("a fixed split needs `shares`")
        if any(share < 0 for share in self.shares.values()):
            raise ValueError("a share is negative")
        if self.how == "metric" and not self.metric:
            raise ValueError("a split by metric needs `metric`, a unit of the outputs")
        return self


class ChargeTable(Table):
    """One [[charge]]."""

    what: str = Field(min_length=1)
    usd: Amount | None = None
    amount: Amount | None = None
    currency: str = ""
    on: date
    owner: dict[Literal["team", "project", "experiment"], str] = {}
    driver: str = ""

    @model_validator(mode="after")
    def _one_amount(self) -> ChargeTable:
        if (self.usd is None) == (self.amount is None):
            raise ValueError("give either `usd`, or `amount` and `currency`")
        if self.amount is not None and not self.currency:
            raise ValueError("`amount` needs a `currency`")
        return self


class InvoiceTable(Table):
    """One [[invoice]]."""

    id: str = Field(min_length=1)
    total: Amount
    currency: str = "USD"
    period: Month | Literal[""] = ""
    provider: str = ""


class QualityTable(Table):
    """[quality.NAME]."""

    metric: str
    bar: Amount
    margin: Amount = Decimal(0)
    error_cost_usd: Amount | None = None


class RateTable(Table):
    """One rate of a currency in [fx]; the key beside `from` is the report currency in lower case."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    from_: date = Field(alias="from")


class File(Table):
    """The whole file."""

    ledger: LedgerTable = LedgerTable()
    fx: dict[str, list[RateTable]] = {}
    load: list[LoadTable] = []
    owners: OwnersTable = OwnersTable()
    drivers: list[DriverTable] = []
    split: list[SplitTable] = []
    charge: list[ChargeTable] = []
    invoice: list[InvoiceTable] = []
    quality: dict[str, QualityTable] = {}
