"""Telling people that something waits for them: a message, and the targets that it is told to.

`SURESTEP_NOTIFY` names the targets; the activity `notify` tells them.
"""
