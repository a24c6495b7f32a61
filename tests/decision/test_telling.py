"""Who has been told of the open question."""

from surestep import evidence as ev
from surestep.decision import Verdict
from surestep.evidence import unknown
from surestep.policy import Ask

from .story import Story, hours


def test_whom_the_escalation_reached_and_whom_the_question_reached_are_both_told():
    story = Story().lost()
    story.proceeds(lambda: unknown("503"), to=Ask).asked()
    story.knows(ev.Notified(at=story.now, told=("usual",), why="told usual"))
    story.knows(ev.Notified(at=story.now, told=("boss",), why="told boss"))
    assert story.record.told == ("usual", "boss")
    story.says(Verdict.KEEP_LOOKING).after(hours(7))
    story.proceeds(lambda: unknown("503"), to=Ask).asked()
    assert story.record.told == ()
