"""`make evidence`: what arms of different care do to a ledger. See docs/evidence.md.

The simulated parts (E1, E2, E4, E5) run in virtual time, from seeds, and give the same bytes every
time. `service` is the outside world, `arms`, `published` and `executor` act on it, `judgement`
compares the ledger with what was said. `twin` runs a sample of Surestep's cells through the real
workflow. `crashes` (E3) kills real processes.
"""
