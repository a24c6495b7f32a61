"""A worker whose census is taken twice a second, so that a test need not wait for a minute."""

import os
import sys
from datetime import timedelta

import worker
from surestep.telemetry import census

census.EVERY = timedelta(seconds=0.5)
code = worker.main()
sys.stderr.flush()
os._exit(code)
