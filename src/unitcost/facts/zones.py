"""Time zones as they are written in settings and on the command line."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from unitcost.errors import BadSetting

_OFFSET = re.compile(r"([+-])(0\d|1[0-4]):([0-5]\d)")


def zone_of(name: str, *, where: str = "") -> tzinfo:
    """Time zone of an IANA name, or of a fixed offset such as `-05:00`.

    Raises
    ------
    BadSetting
        When there is none.
    """
    match = _OFFSET.fullmatch(name)
    if match:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-offset if match[1] == "-" else offset)
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadSetting(
            f"there is no time zone {name!r}", where=where, mend="write an IANA name such as Europe/Berlin, or -05:00"
        ) from None
