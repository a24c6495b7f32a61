"""The file of who may decide: what is wrong with it is said when the worker starts."""

from datetime import timedelta
from pathlib import Path

import pytest

from surestep.authority import Authority, AuthorityError
from surestep.decision import Verdict
from surestep.signature import fingerprint
from tests.waiting import eventually  # noqa: F401

from .people import key_of, public
