"""The names of our metrics. What they mean stands in docs/observability.md, in the same order.

Prometheus shows a counter with `_total` behind its name, and a duration with `_seconds`. No label
is a step, an action, an argument or a person: there is no end to those.
"""

from typing import Final

# What happened, counted by the workflows as it goes into a record.
TRANSITIONS: Final = "surestep_transitions"  # tool, state: an action came into this state
ATTEMPTS: Final = "surestep_attempts"  # tool, outcome
LOOKS: Final = "surestep_looks"  # tool, finding
FENCES: Final = "surestep_fences"  # tool, result
NOTICES: Final = "surestep_notices"  # tool, result
QUESTIONS: Final = "surestep_questions"  # tool, kind
DECISIONS: Final = "surestep_decisions"  # tool, verdict, result
DECISION_LATENCY: Final = "surestep_decision_latency"  # verdict; from the question to the answer
ANOMALIES: Final = "surestep_anomalies"  # tool, kind
NOTIFICATIONS: Final = "surestep_notifications"  # occasion, result
REFUSED_MESSAGES: Final = "surestep_refused_messages"  # what was no decision and no notice

# What was counted by the activities.
FENCES_REFUSED: Final = "surestep_fences_refused"  # attempts that were not sent: they were over

# What is open now, by the census of each worker: several say the same, so take the largest.
OPEN_STEPS: Final = "surestep_open_steps"  # state
DELAYED_STEPS: Final = "surestep_delayed_steps"
ORPHANED_STEPS: Final = "surestep_orphaned_steps"
STUCK_STEPS: Final = "surestep_stuck_steps"
OPEN_QUESTIONS: Final = "surestep_open_questions"  # tool
OVERDUE_QUESTIONS: Final = "surestep_overdue_questions"  # tool
OLDEST_QUESTION: Final = "surestep_oldest_question_age_seconds"  # tool
OLDEST_UNKNOWN: Final = "surestep_oldest_unknown_age_seconds"  # tool
UNKNOWN_LIMIT: Final = "surestep_unknown_limit_seconds"  # tool
OPEN_ANOMALIES: Final = "surestep_open_anomalies"  # kind
CENSUS: Final = "surestep_census_timestamp_seconds"
WORKER: Final = "surestep_worker_info"  # version, build_id
