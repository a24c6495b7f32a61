"""The commands of `starter.py`, one file each, and what they share."""
