"""What part of a card an instance of NVIDIA's Multi-Instance GPU is."""

from __future__ import annotations

import re
from fractions import Fraction

#: The profiles of each kind of card: (memory of the card [GB], as its name says), compute slices, memory slices, and
#: profile -> (compute slices, memory slices) that it takes. Geometry: NVIDIA Multi-Instance GPU User Guide, "Supported
#: MIG Profiles"; names of the newer cards: default configuration of NVIDIA's mig-parted. Read 2026-11-30.
_SEVENTHS = ((1, 1), (1, 2), (2, 2), (3, 4), (4, 4), (7, 8))
_QUARTERS = ((1, 1), (2, 2), (4, 4))
_CARDS: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "A30-24GB": (4, 4, ("1g.6gb", "2g.12gb", "4g.24gb")),
    "RTX-PRO-6000-96GB": (4, 4, ("1g.24gb", "2g.48gb", "4g.96gb")),
    "A100-40GB": (7, 8, ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")),
    "A100-80GB": (7, 8, ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    "H100-80GB": (7, 8, ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    "H100-94GB": (7, 8, ("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb")),
    "H100-96GB": (7, 8, ("1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb")),
    "H200-141GB": (7, 8, ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")),
    "B200-180GB": (7, 8, ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")),
    "GB200-186GB": (7, 8, ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb")),
    "B300-269GB": (7, 8, ("1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb")),
}
#: How far the memory in a name may be from that of a profile, as a part of it: GiB for GB, and what the driver keeps.
_MOST_OFF = Fraction(12, 100)
_PROFILE = re.compile(r"(?:^|[^0-9a-z])([1-7])g\.(\d{1,3})gb(?=$|[^0-9a-z])", re.IGNORECASE)


def profile_in(text: str) -> str:
    """Profile of an instance that a name mentions, such as `1g.5gb` in `nvidia.com/mig-1g.5gb.me`; empty if none."""
    found = _PROFILE.search(text)
    return f"{found[1]}g.{int(found[2])}gb" if found else ""


def slice_share(profile: str, card: str = "") -> Fraction | None:
    """Part of a card that an instance of this profile takes away from all others [share of a card].

    An instance takes compute slices and memory slices; the larger of the two parts counts: `3g.20gb` has three of
    seven compute slices but half of the memory, and no third instance like it fits.

    Parameters
    ----------
    profile
        Such as `1g.5gb`; `+me`, `.me` and other endings for media engines do not matter.
    card
        The card as labels name it, such as `NVIDIA-A100-SXM4-40GB`; it matters where cards of unlike memory share
        a profile name (`1g.10gb` is two of eight memory slices of an A100 with 40 GB and one of eight with 80 GB).
        Where it is not known, the card with the larger memory is taken.

    Returns
    -------
    Fraction | None
        None for a profile that no card in the table has.
    """
    name = _nearest(profile_in(profile))
    shares = {kind: _share(kind, name) for kind, (_, _, names) in _CARDS.items() if name in names}
    if not shares:
        return None
    memory = re.search(r"(\d{2,3})\s*GB", card, re.IGNORECASE)
    same = [share for kind, share in shares.items() if memory and kind.endswith(f"-{memory[1]}GB")]
    return min(same or shares.values())


def _nearest(profile: str) -> str:
    """Profile of the table; schedulers round the usable memory, so `3g.39gb` is `3g.40gb`."""
    slices, _, memory = profile.removesuffix("gb").partition("g.")
    found = ""
    off = _MOST_OFF
    for name in (name for _, _, names in _CARDS.values() for name in names if name.startswith(f"{slices}g.")):
        nominal = int(name.removesuffix("gb").partition("g.")[2])
        if memory and abs(int(memory) - nominal) <= off * nominal:
            found, off = name, Fraction(abs(int(memory) - nominal), nominal)
    return found


def _share(kind: str, name: str) -> Fraction:
    compute, memory, names = _CARDS[kind]
    taken = (_SEVENTHS if compute == 7 else _QUARTERS)[names.index(name)]
    return max(Fraction(taken[0], compute), Fraction(taken[1], memory))
