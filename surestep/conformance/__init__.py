"""The conformance check: does a tool's service keep what its contract promises?

`report = await check(tool, {...}, sandbox=True)`, then `assert report.ok, report`. It has real
effects: point the tool at a sandbox.
"""

from surestep.conformance.check import NoSandbox, check
from surestep.conformance.course import CannotCheck
from surestep.conformance.promise import Promise
from surestep.conformance.report import Judgement, Left, Report, Row

__all__ = ["CannotCheck", "Judgement", "Left", "NoSandbox", "Promise", "Report", "Row", "check"]
