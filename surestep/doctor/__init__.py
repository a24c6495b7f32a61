"""`starter.py doctor`: what is not as it must be, what follows from it, and what to do."""

from surestep.doctor.checkup import Checkup, examine
from surestep.doctor.finding import Finding, Level

__all__ = ["Checkup", "Finding", "Level", "examine"]
