"""A counterexample as a story that a person can read."""

from .search import Node, Story
from .service import Service

HEAD, TAIL = 50, 8  # lines of a story that are printed


def tell(story: Story) -> str:
    nodes: list[Node] = []
    node: Node | None = story.node
    while node:
        nodes.append(node)
        node = node.parent
    lines = [f"scene: {story.scene.name}", f"       {promises(story.scene.service)}"]
    events = [event for node in reversed(nodes) for event in node.told]
    for number, (second, who, what) in enumerate(events, 1):
        if number == HEAD + 1 and len(events) > HEAD + TAIL:
            lines.append(f"     … {len(events) - HEAD - TAIL} lines of the same kind …")
        if number <= HEAD or number > len(events) - TAIL:
            lines.append(f"{number:3}. t={second:<5} {who:9} {what}")
    record = story.node.state.record
    lines.append(f"     the record says {record.state}, version {record.version}")
    lines.append(f"BROKEN: {story.broken}")
    return "\n".join(lines)


def promises(service: Service) -> str:
    promise = service.promise
    key = "no key"
    if promise.key:
        key = f"key for {promise.key.lifetime.total_seconds():g} s"
        key += ", failures stored" if promise.key.stores_failures else ""
    true = f"really key {service.remembers} s, Δ {service.delay} s, λ {service.lag} s"
    able = [word for word, can in (("verify", service.can_verify), ("fence", service.can_fence))
            if can]  # fmt: skip
    return (
        f"{key}; Δ {_said(promise.in_flight)}, λ {_said(promise.visibility_lag)}, "
        f"misses {promise.misses}; can {' and '.join(able) or 'neither verify nor fence'}; {true}"
    )


def _said(value: object) -> str:
    return "not promised" if value is None else f"{value.total_seconds():g} s"  # type: ignore[attr-defined]
