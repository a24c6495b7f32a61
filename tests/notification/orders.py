"""Orders as the workflow gives them."""

from datetime import UTC, datetime
from typing import Any

from surestep.questions import NotifyOrder, Occasion


def order(**fields: Any) -> NotifyOrder:
    usual = {
        "id": "refund/order-7781/refund/question/4",
        "occasion": Occasion.QUESTION,
        "step_id": "refund/order-7781",
        "run_id": "0197a1c2",
        "action": "refund",
        "tool": "refund",
        "state": "unknown",
        "recognised": "7781",
        "why": "a request may have left, and nothing was found since",
        "since": datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC),
        "verdicts": ("confirm", "retry"),
    }
    return NotifyOrder.model_validate(usual | fields)
