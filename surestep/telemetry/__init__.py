"""What a process tells of itself: its log, its metrics, its traces (docs/observability.md)."""
