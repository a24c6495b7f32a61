"""The world as a process of its own: `python -m surestep.testing`."""

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from surestep.settings import Settings, SettingsError
from surestep.testing.faults import described
from surestep.testing.listener import HOST
from surestep.testing.service import READY_MADE
from surestep.testing.world import World


def main() -> None:
    """Runs a world until SIGTERM or SIGINT; its first line is `{"url": ..., "control": ...}`."""
    parser = argparse.ArgumentParser(
        prog="python -m surestep.testing",
        description=f"Services over HTTP that misbehave on command: {', '.join(READY_MADE)}.",
    )
    parser.add_argument("--folder", type=Path, help="where the ledger is kept")
    parser.add_argument("--host", default=HOST, help="default: %(default)s, this machine only")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--faults", action="store_true", help="print every fault and leave")
    options = parser.parse_args()
    if options.faults:
        print(described())
        return
    if options.folder is None:
        parser.error("--folder is needed: the ledger has to be kept somewhere")
    try:
        Settings.from_environment()  # a misspelt variable is told here as everywhere
        asyncio.run(_serve(options.folder, options.host, options.port))
    except SettingsError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"the world cannot start: {error}")
    except KeyboardInterrupt:
        pass


async def _serve(folder: Path, host: str, port: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with World.start(folder=folder, host=host, port=port) as world:
        print(json.dumps({"url": world.url, "control": world.control_url}), flush=True)
        await stopped.wait()


if __name__ == "__main__":
    main()
