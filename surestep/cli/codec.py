"""`codec`: the codec server, through which the Web UI and `temporal` show what is encrypted."""

import logging
from ipaddress import ip_address
from typing import Annotated

import typer

from surestep.cli import page
from surestep.cli.exits import Exit, epilog
from surestep.cli.session import run
from surestep.encryption.errors import EncryptionError
from surestep.encryption.key_ring import KeyRing
from surestep.settings import Settings
from surestep.telemetry.log import set_up

EPILOG = epilog(Exit.DONE)


class NotServed(EncryptionError):
    """The codec server does not start as it is configured; the message names the remedy."""


def codec(
    new_reader: Annotated[
        bool,
        typer.Option("--new-reader", help="Make a token for one more reader, and serve nothing."),
    ] = False,
) -> None:
    """Serve /decode and /encode for Temporal's Web UI and command line (docs/encryption.md).

    It listens on SURESTEP_CODEC_LISTEN, and beyond this host only with SURESTEP_CODEC_READERS. Web
    pages may ask it from the SURESTEP_CODEC_ORIGINS only.
    """
    run(_new_reader() if new_reader else _serve(), interrupted="the codec server has ended")


async def _serve() -> Exit:
    settings = Settings.from_environment()
    host, _, port = settings.codec_listen.rpartition(":")
    host = host.strip("[]")
    if settings.encryption_keys is None:
        raise NotServed("there is nothing to decode with: set SURESTEP_ENCRYPTION_KEYS")
    if settings.codec_readers is None and not _is_loopback(host):
        raise NotServed(
            f"on {host} everybody who can reach it could decode: set SURESTEP_CODEC_READERS to the "
            "file of those who may, or SURESTEP_CODEC_LISTEN to 127.0.0.1:8888"
        )
    ring = KeyRing.load(settings.encryption_keys)
    try:
        from surestep.encryption.codec_server import CodecServer, serve
        from surestep.encryption.readers import Readers
    except ImportError as error:
        remedy = "install surestep[codec]"
        raise NotServed(f"the codec server needs the package {error.name}: {remedy}") from None
    readers = Readers.load(settings.codec_readers) if settings.codec_readers else None
    set_up(settings.log)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    origins = ", ".join(settings.codec_origins) or "no web page"
    may = "those of SURESTEP_CODEC_READERS" if readers else "everybody on this host"
    page.aside(f"codec server on {settings.codec_listen}: asked by {origins}, read by {may}")
    app = CodecServer(ring, readers, settings.codec_origins).app()
    if not await serve(app, host, int(port)):
        raise NotServed(f"cannot listen on {settings.codec_listen}: set SURESTEP_CODEC_LISTEN")
    return Exit.DONE


async def _new_reader() -> Exit:
    try:
        from surestep.encryption.readers import new_token, token_digest
    except ImportError as error:
        raise NotServed(f"this needs the package {error.name}: install surestep[codec]") from None
    token = new_token()
    page.line("[readers.NAME]")
    page.line(f'tokens = ["{token_digest(token)}"]')
    page.aside("the lines go into the file of SURESTEP_CODEC_READERS; the reader alone gets this:")
    page.command(f'export TEMPORAL_CODEC_AUTH="Bearer {token}"', to_copy_from_stderr=True)
    return Exit.DONE


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
