"""Drivers that the settings name: those that ship, and those that a rule of the user makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from unitcost.attribution.tags import PURPOSES, fold
from unitcost.errors import UnknownName
from unitcost.facts.drivers import SHIPPED_NAMES
from unitcost.facts.rules import UNKNOWN_DRIVER, DriverRule, Settings
from unitcost.facts.spend import Line

_MEND = "use one of: {known}; a rule under [[drivers]] may name others"


def known_drivers(rules: Sequence[DriverRule]) -> tuple[str, ...]:
    """Names of the drivers that ship and of those that rules of the user make."""
    return (*SHIPPED_NAMES, UNKNOWN_DRIVER, *(rule.driver for rule in rules))


def driver_named(name: str, rules: Sequence[DriverRule], *, more: Sequence[str] = (), where: str = "") -> str:
    """Driver that the settings name, in its own spelling; words such as `inference` mean what they mean in tags.

    Parameters
    ----------
    more
        Names that are known besides drivers.

    Raises
    ------
    UnknownName
        When there is no such driver.
    """
    known = (*known_drivers(rules), *more)
    found = next((one for one in known if one.casefold() == name.strip().casefold()), "") or PURPOSES.get(
        fold(name), ""
    )
    if not found:
        listed = ", ".join(dict.fromkeys(known))
        raise UnknownName("driver", name, known, where=where, mend=_MEND.format(known=listed))
    return found


def with_drivers(settings: Settings) -> Settings:
    """Settings in which charges and splits name drivers in their own spelling.

    Raises
    ------
    UnknownName
        When one names a driver that there is not.
    """
    lines = [line for line in get_args(Line) if line not in ("usage", "marketplace")]
    charges = tuple(
        replace(
            charge, driver=driver_named(charge.driver, settings.drivers, where=f"{settings.file}, charge[{i}].driver")
        )
        if charge.driver
        else charge
        for i, charge in enumerate(settings.charges)
    )
    splits = []
    for i, split in enumerate(settings.splits):
        if "driver" in split.of:
            where = f"{settings.file}, split[{i}].of"
            found = driver_named(split.of["driver"], settings.drivers, more=lines, where=where)
            split = replace(split, of=split.of | {"driver": found})
        splits.append(split)
    return replace(settings, charges=charges, splits=tuple(splits))
