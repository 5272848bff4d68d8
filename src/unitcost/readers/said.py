"""What a user says about a file, looked at before any file is: a slip must not wait for a file that needs the answer."""

from __future__ import annotations

from pathlib import Path

from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.days import month_start
from unitcost.facts.encodings import codec_of
from unitcost.facts.source import ReadOptions
from unitcost.facts.zones import zone_of
from unitcost.readers.complete import currency_said
from unitcost.readers.dates import order_said
from unitcost.readers.survey import delimiter_said
from unitcost.readers.table import all_readers

#: Signs that a version may have.
_LONGEST_VERSION = 200


def check_options(options: ReadOptions, *, where: str = "") -> None:
    """Refuse options that mean nothing, or that contradict each other.

    Raises
    ------
    BadSetting, UnknownName
        When there is such an option; names it.
    """
    if options.reader and options.reader not in all_readers():
        raise UnknownName("reader", options.reader, all_readers(), where=where)
    if options.currency:
        currency_said(options.currency, where)
    if options.period:
        month_start(options.period, where=where)
    if options.date_order:
        order_said(options.date_order, where)
    if options.timezone:
        zone_of(options.timezone, where=where)
    if options.encoding:
        codec_of(options.encoding, where=where)
    delimiter_said(options.delimiter, where)
    if options.rates and not Path(options.rates).is_file():
        raise BadSetting(f"there is no rate card `{options.rates}`", where=where, mend="check the path")
    _check_restating(options, where)


def _check_restating(options: ReadOptions, where: str) -> None:
    if options.part and options.replace:
        raise BadSetting(
            "a part adds up with what is loaded, a restatement replaces it", where=where, mend="say `part` or `replace`"
        )
    if len(options.version) > _LONGEST_VERSION:
        raise BadSetting(f"the version has {len(options.version):,} signs", where=where, mend="use a shorter one")
    if options.version and not options.replace:
        raise BadSetting(
            f"the version {options.version!r} says nothing without a restatement",
            where=where, mend='say `replace = "period"` (`--replace period`) too, or leave the version out',
        )  # fmt: skip
