"""The activity on the real server: everybody is told, and nobody twice because of another."""

import json
from datetime import timedelta

import pytest

from surestep.questions import Occasion
from tests.mail.postbox import Postbox
from tests.notification.orders import order
from tests.notification.programs import program
from tests.waiting import eventually

JUNE = "june@example.com"


async def test_a_webhook_a_mail_box_and_a_program_are_told_the_same(receiver, telling, tmp_path):
    said = tmp_path / "said"
    path = program(tmp_path / "page", f"cat > {said}")
    async with Postbox.open() as box:
        targets = f"{receiver.url()}, mailto:{JUNE}, command:{path}"
        smtp = f"smtp://127.0.0.1:{box.port}?tls=off&from=surestep@example.org"
        async with telling(SURESTEP_NOTIFY=targets, SURESTEP_SMTP=smtp) as start:
            told = await (await start()).result()
        (mail,) = box.to(JUNE)
    assert told.missed == ()
    assert told.told[1:] == (f"mailto:{JUNE}", f"command:{path}")
    (message,) = receiver.messages()
    assert json.loads(said.read_bytes()) == message
    assert receiver.ids() == [message["id"]] == [order().id]
    assert mail["Subject"] == message["subject"] == "Surestep: refund of 7781 is unknown"
    assert mail.get_content().splitlines() == message["text"].splitlines()[2:]
    assert message["link"].endswith("/namespaces/default/workflows/refund%2Forder-7781")
    assert message["link"] in message["text"]


async def test_a_receiver_that_fails_twice_is_told_at_the_third_try(receiver, telling):
    receiver.fates["/hook"] = ["503", "500"]
    async with telling(SURESTEP_NOTIFY=receiver.url()) as start:
        told = await (await start()).result()
    assert told.missed == ()
    assert len(receiver.requests()) == 3
    assert len({request.body for request in receiver.requests()}) == 1
    assert set(receiver.ids()) == {order().id}


async def test_while_one_target_is_down_the_others_are_told_once(receiver, telling):
    """The one that is down is told by a later attempt of the activity."""
    receiver.fates["/down"] = ["500"] * 3
    targets = ",".join(receiver.url(path) for path in ("/first", "/down", "/last"))
    async with telling(SURESTEP_NOTIFY=targets) as start:
        handle = await start(lasts=timedelta(minutes=10))
        told = await handle.result()
    assert told.missed == ()
    assert (await handle.describe()).attempt > 1
    assert len(receiver.requests("/first")) == len(receiver.requests("/last")) == 1
    assert len(receiver.requests("/down")) == 4


async def test_who_cannot_be_told_in_time_is_named_without_credentials(receiver, telling):
    receiver.fates["/T0/SECRET"] = ["403"] * 20
    url = receiver.url("/T0/SECRET", credentials="user:PASSWORD@")
    async with telling(SURESTEP_NOTIFY=f"{receiver.url()},{url}") as start:
        told = await (await start()).result()
    (missed,) = told.missed
    assert len(receiver.requests()) == len(told.told) == 1
    assert "403 Forbidden" in missed.why
    assert "SECRET" not in told.words
    assert "PASSWORD" not in told.words
    assert told.words.startswith("told http://127.0.0.1:")
    assert f"not told {missed.target}" in told.words


@pytest.mark.parametrize(
    ("overdue", "paths"), [("", ["/usual"]), ("/boss", ["/boss"]), ("/usual /boss", None)]
)
async def test_silence_is_told_to_those_of_the_second_list_or_by_default_to_the_same(
    receiver, telling, overdue, paths
):
    second = ",".join(receiver.url(path) for path in overdue.split())
    env = {"SURESTEP_NOTIFY": receiver.url("/usual"), "SURESTEP_NOTIFY_OVERDUE": second}
    async with telling(**env) as start:
        await (await start(order(id="a/overdue/1", occasion=Occasion.OVERDUE))).result()
        told = [path for path in ("/usual", "/boss") if receiver.requests(path)]
        assert told == (paths or ["/usual", "/boss"])
        await (await start(order(id="b/question/1"))).result()
        await (await start(order(id="c/anomaly/1", occasion=Occasion.ANOMALY))).result()
    assert receiver.ids("/usual")[-2:] == ["b/question/1", "c/anomaly/1"]
    assert len(receiver.requests("/boss")) == ("/boss" in told)


async def test_without_targets_nobody_is_told_and_the_answer_says_so(telling):
    async with telling() as start:
        told = await (await start()).result()
    assert told.words == "nobody is configured to be told: SURESTEP_NOTIFY is not set"


@pytest.mark.timeout(100)
async def test_a_worker_killed_between_two_targets_does_not_make_the_first_be_told_twice(
    receiver, start, workers
):
    receiver.fates["/slow"] = ["hold"]
    targets = f"{receiver.url('/first')},{receiver.url('/slow')}"
    worker = await workers.starts(SURESTEP_NOTIFY=targets)
    handle = await start(lasts=timedelta(minutes=10), attempt=timedelta(seconds=7))

    async def between() -> bool:
        kept = (await handle.describe()).last_heartbeat_time
        return kept is not None and bool(receiver.requests("/slow"))

    await eventually(between)
    await worker.kill()
    await workers.starts()
    told = await handle.result()
    assert all(name in worker.log for name in told.told)
    assert len(told.told) == 2
    assert len(receiver.requests("/first")) == 1
    assert receiver.ids("/slow") == [order().id] * 2


async def test_a_worker_that_cannot_tell_as_configured_does_not_start(workers):
    env = {"SURESTEP_NOTIFY": "mailto:ops@example.com", "SURESTEP_SMTP": "smtp://u:PASSWORD@"}
    log = await workers.refused(**env)
    assert "SURESTEP_SMTP cannot be used: " in log
    assert "PASSWORD" not in log
    log = await workers.refused(SURESTEP_NOTIFY="command:/no/such/program")
    assert "SURESTEP_NOTIFY names command:/no/such/program, which is not a program" in log
