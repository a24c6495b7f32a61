"""Times as operators give them: `2h`, `3d`, or an ISO time."""

import re
from datetime import UTC, datetime, timedelta

from surestep.cli import page

_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def moment(text: str) -> datetime:
    """A time ahead by so much, or the time itself; without a zone it is local time.

    Raises typer.BadParameter.
    """
    ahead = re.fullmatch(r"(\d{1,6})\s*([mhd])", text.strip())
    try:
        if ahead:
            return datetime.now(UTC) + int(ahead[1]) * _UNITS[ahead[2]]
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise page.wrong(
            f"{text.strip()!r} is no time: give minutes, hours or days, as 30m, 24h or 3d, or an "
            "ISO time"
        ) from None
