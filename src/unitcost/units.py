"""Each constant and each conversion, once."""

from __future__ import annotations

from decimal import Decimal

#: Decimal places that the ledger keeps of an amount of money.
LEDGER_PLACES = 12
#: The smallest amount the ledger keeps.
LEDGER_UNIT = Decimal(1).scaleb(-LEDGER_PLACES)
#: Places of an amount that is printed for a person.
CENT_PLACES = 2
CENT = Decimal("0.01")
#: Places of a measured share.
SHARE_PLACES = 6

SECONDS_PER_MINUTE = 60
SECONDS_PER_HOUR = 3600
HOURS_PER_DAY = 24
#: Days of a month where growth is counted by the month.
DAYS_PER_MONTH = 30
SECONDS_PER_DAY = SECONDS_PER_HOUR * HOURS_PER_DAY
#: Hours of a month in price lists: 365 days / 12.
HOURS_PER_MONTH = 730
MILLISECONDS_PER_SECOND = 1_000
MICROSECONDS_PER_SECOND = 1_000_000
NANOSECONDS_PER_MICROSECOND = 1_000

KILO = 1_000
MEGA = KILO**2
GIGA = KILO**3
TERA = KILO**4

KIB = 1024
MIB = 1024**2
GIB = 1024**3
KB = 1000
MB = 1000**2
GB = 1000**3

KILO = 1_000
MEGA = KILO**2
GIGA = KILO**3
TERA = KILO**4

PER_THOUSAND = Decimal(1_000)
PER_MILLION = Decimal(1_000_000)
PERCENT = Decimal(100)
