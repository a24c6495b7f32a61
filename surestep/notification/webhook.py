"""A webhook: one POST with a signed body. Only a 2xx means that it was told."""

import hmac
import time
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final

from surestep.errors import NotSent
from surestep.http import problem
from surestep.http.proof import Track, of_status
from surestep.http.transport import Outgoing, converse, parsed, raise_for
from surestep.notification.message import Message
from surestep.notification.targets import Target

MESSAGE_ID: Final = "Surestep-Message-Id"
SIGNATURE: Final = "Surestep-Signature"

SHORTEST_SECRET: Final = 16
"""Bytes. What is shorter can be guessed from one message."""


class Webhook:
    """`secret`: the file with the key of the signature, read for every message; None: unsigned."""

    def __init__(self, target: Target, secret: Path | None, within: timedelta) -> None:
        self.name = target.name
        self._url = target.place
        self._secret = secret
        self._within = within

    async def tell(self, message: Message) -> None:
        headers = {"Content-Type": "application/json", MESSAGE_ID: message.id}
        if self._secret:
            headers[SIGNATURE] = signature(_read(self._secret), message.body, int(time.time()))
        outgoing = Outgoing("POST", self._url, headers, message.body)
        response = await converse(outgoing, self._within, Track())
        raise_for(
            of_status(response.status_code), response, problem.words(response, parsed(response))
        )


def signature(secret: bytes, body: bytes, at: int) -> str:
    """`t=…,v1=…`: the time in Unix seconds, and HMAC-SHA256 over `{t}.{body}`."""
    digest = hmac.new(secret, f"{at}.".encode() + body, sha256).hexdigest()
    return f"t={at},v1={digest}"


def secret_in(path: Path) -> bytes:
    """The secret, without the white space around it. Raises OSError, or ValueError."""
    secret = path.read_bytes().strip()
    if len(secret) < SHORTEST_SECRET:
        raise ValueError(f"the secret in it has less than {SHORTEST_SECRET} bytes")
    return secret


def _read(path: Path) -> bytes:
    try:
        return secret_in(path)
    except (OSError, ValueError) as error:
        raise NotSent(
            f"the file of SURESTEP_NOTIFY_SECRET gives no secret ({type(error).__name__})"
        ) from error
