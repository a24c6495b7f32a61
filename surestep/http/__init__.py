"""HTTP tools: `exchange`, one request that says what it proves, and `HttpTool`, a tool declared."""

from surestep.http.fence import FenceRequest, Sight
from surestep.http.item import Item
from surestep.http.lookup import Lookup
from surestep.http.operations import Operations
from surestep.http.paging import Cursor, NextLink
from surestep.http.proof import REFUSED, REFUSED_FOR_NOW
from surestep.http.request import ARGUMENTS, Key, Request
from surestep.http.rules import Rule
from surestep.http.service import Credentials, Service, Source, bearer, env, header
from surestep.http.shape import Shape, States
from surestep.http.tool import HttpTool
from surestep.http.transport import BODY_LIMIT, after_effect, exchange, retry_after
from surestep.http.undo import Undo, UndoLookup

__all__ = [
    "ARGUMENTS",
    "BODY_LIMIT",
    "REFUSED",
    "REFUSED_FOR_NOW",
    "Credentials",
    "Cursor",
    "FenceRequest",
    "HttpTool",
    "Item",
    "Key",
    "Lookup",
    "NextLink",
    "Operations",
    "Request",
    "Rule",
    "Service",
    "Shape",
    "Sight",
    "Source",
    "States",
    "Undo",
    "UndoLookup",
    "after_effect",
    "bearer",
    "env",
    "exchange",
    "header",
    "retry_after",
]
