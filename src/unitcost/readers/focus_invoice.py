"""FOCUS 1.4 Invoice Detail: what each invoice says is owed."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts.mapping import Choose, Const, Equals, Field, Mapping
from unitcost.facts.source import ReadOptions
from unitcost.readers.complete import complete
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "focus-invoice"
CONVENTIONS = (
    "An invoice is owed what its detail lines add up to, and voided lines add nothing.",
    "Amounts are in the billing currency; amounts in a payment currency are not looked at.",
    "Times are UTC; the billing period starts at its start and ends before its end.",
)
DEFINING = ("InvoiceId", "InvoiceDetailId", "BilledCost", "BillingCurrency", "BillingPeriodStart", "InvoiceIssueStatus")

_ONLY_HERE = (
    "InvoiceDetailCreated", "InvoiceDetailDescription", "InvoiceDetailGrain", "InvoiceDetailLastUpdated",
    "InvoiceIssueDate", "InvoiceIssueStatus", "PaymentCurrency", "PaymentCurrencyBilledCost",
    "PaymentCurrencyInvoiceDetailId", "PaymentDueDate", "PaymentTerms", "PurchaseOrderNumber",
)  # fmt: skip
_USED = ("InvoiceId", "BilledCost", "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "BillingAccountId")

_TARGETS = (
    ("invoice_id", "invoiceid"), ("billed_cost", "billedcost"), ("billing_currency", "billingcurrency"),
    ("billing_period_start", "billingperiodstart"), ("billing_period_end", "billingperiodend"),
)  # fmt: skip


def sniff(head: Head) -> int:
    """How many of its columns the file has, 0 unless it is about invoices and not about charges."""
    if not head.has("InvoiceId", "BilledCost") or head.count("EffectiveCost", "ChargePeriodStart"):
        return 0
    own = head.count(*_ONLY_HERE)
    return 3 * own + head.count(*_USED) if own or head.has("InvoiceDetailId") else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of an invoice detail file mean; see `Reader`."""
    by_folded = {name.casefold(): name for name in reversed(columns)}

    def named(*names: str) -> tuple[str, ...]:
        return tuple(by_folded[name.casefold()] for name in names if name.casefold() in by_folded)

    mapping: Mapping = {target: Field(by_folded[name]) for target, name in _TARGETS if name in by_folded}
    done = complete(mapping, options, currency_seen=True, where="invoice detail")
    billed = mapping["billed_cost"]
    if "invoiceissuestatus" in by_folded:
        is_void = Equals(Field(by_folded["invoiceissuestatus"]), ("Voided",))
        done.mapping["billed_cost"] = Choose(((is_void, Const("0")),), billed)
    return Reading(
        dialect="FOCUS 1.4 Invoice Detail",
        dataset="invoices",
        mapping={target: done.mapping[target] for target, _ in _TARGETS if target in done.mapping},
        conventions=CONVENTIONS,
        flags=tuple(flag for flag in done.flags if "currency" in flag or "no dates" in flag),
        nulls=("NULL", "null"),
        date_columns=named("BillingPeriodStart", "BillingPeriodEnd", "InvoiceIssueDate", "PaymentDueDate"),
        period_columns=(by_folded["billingperiodstart"], by_folded["billingperiodend"])
        if len(named("BillingPeriodStart", "BillingPeriodEnd")) == 2
        else None,
        currency_columns=named("BillingCurrency"),
        money_columns=named("BilledCost"),
    )
