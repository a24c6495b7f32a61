"""Whether somebody listens at a place: a connection is opened and closed, nothing is sent."""

import asyncio
from datetime import timedelta

CONNECTS_WITHIN = timedelta(seconds=3)


async def unreachable(host: str, port: int) -> str | None:
    """Why nobody answers there, in the system's words; None: somebody does."""
    try:
        async with asyncio.timeout(CONNECTS_WITHIN.total_seconds()):
            _, writer = await asyncio.open_connection(host, port)
        writer.close()
    except (OSError, UnicodeError) as error:  # TimeoutError is one
        return error.strerror if isinstance(error, OSError) and error.strerror else "no answer"
    return None
