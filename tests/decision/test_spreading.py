"""Many actions that were put into step by an outage come apart again by themselves."""

from surestep.agenda import backoff, next_look
from surestep.evidence import unknown
from surestep.policy import Ask

from .story import NO_PROMISES, Story


def asked_story() -> Story:
    story = Story(NO_PROMISES).lost().proceeds(to=Ask).asked()
    return story.looks(unknown("no answer"))


def pause(story: Story, action_id: str) -> float:
    record = story.record.model_copy(update={"action_id": action_id})
    return (next_look(record) - record.looks.at).total_seconds()


def test_looks_of_many_asked_actions_come_apart_by_up_to_a_quarter():
    story = asked_story()
    least = backoff(story.record.looks.count, cap=story.record.contract.watch).total_seconds()
    pauses = {pause(story, f"step/{n}") for n in range(200)}
    assert least <= min(pauses) < 1.02 * least
    assert 1.23 * least < max(pauses) <= 1.25 * least
    assert len(pauses) > 100


def test_a_look_is_due_at_the_same_time_however_often_that_is_asked():
    story = asked_story()
    assert pause(story, "step/one") == pause(story, "step/one")


def test_before_a_person_is_asked_a_look_comes_when_it_is_due():
    story = Story(NO_PROMISES).lost().looks(unknown("no answer"))
    assert {pause(story, f"step/{n}") for n in range(50)} == {1.0}
