"""`verify` and `fence`: the questions to the service. Their failures are no information (R9)."""

import asyncio
from datetime import UTC, datetime, timedelta

from temporalio import activity

from activities.bounds import bounded, bounded_look, log_failure, said
from activities.shield import pressed
from activities.turnstile import NoTurn, Turnstile
from surestep.evidence import Finding, Verification, unknown
from surestep.protocol import FENCE, VERIFY, FenceReport, LookOrder, SendOrder
from surestep.tool import Call, Tool, Tools
from surestep.vault import Ready, SecretSource, readied


class Observer:
    """Looks, and fences. It never sends an action."""

    def __init__(
        self,
        tools: Tools,
        secrets: SecretSource | None = None,
        turnstile: Turnstile | None = None,
    ) -> None:
        self._tools = tools
        self._secrets = secrets
        self._turnstile = turnstile or Turnstile()

    @activity.defn(name=VERIFY)
    async def verify(self, order: LookOrder) -> Verification:
        """One look. It raises nothing: a look that fails is `unknown`."""
        ready = Ready()
        try:
            tool = self._tools[order.tool]
            ready = await readied(tool, order.arguments, self._secrets)
            async with self._turnstile.turn(tool.name):
                return await look(tool, ready, _call(order), order)
        except asyncio.CancelledError:
            return unknown(f"{cut_off_by()} while it was under way")
        except NoTurn as crowded:
            return unknown(str(crowded))
        except Exception as error:
            return unknown(said(error, ready))

    @activity.defn(name=FENCE)
    async def fence(self, order: LookOrder) -> FenceReport:
        """One attempt to fence. It raises nothing: what fails is neither held nor found."""
        ready = Ready()
        try:
            tool = self._tools[order.tool]
            assert tool.fence_with  # noqa: S101 - the contract snapshot said so
            ready = await readied(tool, order.arguments, self._secrets)
            async with self._turnstile.turn(tool.name), asyncio.timeout(order.timeout):
                answer = await tool.fence_with(ready.arguments, _call(order))
            exists = bounded(answer.exists, order.room, ready) if answer.exists else None
            return FenceReport(held=answer.held, exists=exists)
        except asyncio.CancelledError:
            return FenceReport(why=f"{cut_off_by()} while it was under way")
        except NoTurn as crowded:
            return FenceReport(why=str(crowded))
        except BaseException as error:  # a group of them, an exit: the SDK would record its text
            return FenceReport(why=said(error, ready))


async def look(tool: Tool, ready: Ready, call: Call, order: LookOrder | SendOrder) -> Verification:
    """What `verify` sees; a miss counts only if the tool's sight probe, if it has one, can see."""
    if tool.verify_with is None:
        return unknown(f"the tool {tool.name} no longer has a verify")
    try:
        async with asyncio.timeout(order.timeout):
            seen: object = await tool.verify_with(ready.arguments, call)
            if not isinstance(seen, Verification):
                return unknown(f"verify returned {type(seen).__name__} instead of a Verification")
            misses = seen.finding is Finding.NOT_FOUND
            if misses and tool.sight_with and not await tool.sight_with(ready.arguments, call):
                return unknown("the lookup cannot see: it misses a known object as well")
    except TimeoutError:
        return unknown(f"no answer within {order.timeout:g} s")
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # as above
        log_failure("verify", tool.name, error, ready)
        return unknown(said(error, ready))
    return bounded_look(seen, order.room, ready)


def cut_off_by() -> str:
    if activity.is_worker_shutdown():
        return "the worker was shut down"
    return pressed() or "cancelled"


def _call(order: LookOrder) -> Call:
    return Call(
        action_id=order.key,
        attempt=order.attempt,
        deadline=datetime.now(UTC) + timedelta(seconds=order.timeout),
        before=order.before,
        receipt=order.receipt,
    )
