"""A newcomer with a phone flies all lessons and wins the fight at their end."""

import re

import pytest
from browser import NEEDED
from pages import is_shown, text
from play_page import PATIENCE, Fingers, until
from web_page import COMPILER

pytestmark = [COMPILER, NEEDED, pytest.mark.nightly]

NEAR_BEHIND = (5, 6, 7)  # o'clock


class Visitor:
    """Acts on the words of the page alone."""

    def __init__(self, page) -> None:
        self.page = page
        self.fingers = Fingers(page)

    @property
    def lesson(self) -> int:
        """The number of the lesson, 0 if there is none."""
        found = re.match(r"(\d+) of", text(self.page, "lesson-words"))
        return int(found[1]) if found else 0

    def hour(self, element: str) -> int | None:
        """Returns the direction that a text names, if it does."""
        found = re.search(r"(\d+) o'clock", text(self.page, element))
        return int(found[1]) if found else None

    def turn(self, hour: int | None, wanted: tuple[int, ...]) -> None:
        """Drags the stick so that something comes to one of the wanted hours."""
        if hour is None or hour in wanted:
            self.fingers.drag(0)
        else:
            is_right = hour % 12 <= 6
            towards = 1 if is_right else -1  # to it
            self.fingers.drag(towards if 12 in wanted else -towards)

    def time(self, times: int) -> None:
        """Taps until time is so many times as fast."""
        while (rate := int(text(self.page, "rate")[:-1])) != times:
            self.fingers.tap("faster" if rate < times else "slower")

    def fire_inside(self) -> None:
        """Taps the button when the aim says so."""
        if self.page.evaluate("document.getElementById('trigger').className") == "good":
            self.fingers.tap("trigger")


@pytest.mark.timeout(600)
def test_a_visitor_flies_all_lessons_and_wins_the_last_fight(phone):
    me = Visitor(phone)
    assert is_shown(phone, "lesson")
    me.fingers.tap("lesson-start")
    for number, way in ((1, -1), (2, 1)):
        assert me.lesson == number
        me.fingers.drag(way)
        until(lambda number=number: me.lesson > number)
    me.fingers.drag(0)

    def shot() -> bool:
        me.turn(me.hour("launch-line"), (12,))
        me.fire_inside()
        return me.lesson == 4

    until(shot)
    me.time(4)
    until(lambda: me.lesson == 5)
    until(lambda: me.lesson == 6)

    def ran() -> bool:
        me.turn(me.hour("warning-words"), NEAR_BEHIND)
        if "outrun" in text(phone, "warning-words"):
            me.time(4)
        return me.lesson == 7

    until(ran)
    me.fingers.let_go()
    me.fingers.tap("view")
    until(lambda: me.lesson == 8)
    me.fingers.tap("lesson-start")
    until(lambda: "ready" in text(phone, "launch-line"))
    me.fingers.tap("trigger")
    until(lambda: me.lesson == 9)
    me.fingers.tap("lesson-start")

    def fought() -> bool:
        if is_shown(phone, "outcome"):
            me.fingers.let_go()
            if text(phone, "outcome-words") == "You win":
                return True
            me.fingers.tap("outcome-again")
            until(lambda: not is_shown(phone, "outcome"))
            me.fingers.tap("lesson-start")
        me.time(4)
        if is_shown(phone, "warning"):
            me.turn(me.hour("warning-words"), NEAR_BEHIND)
        else:
            me.turn(me.hour("launch-line"), (12,))
        me.fire_inside()
        return False

    until(fought, 5 * PATIENCE)
    assert text(phone, "lesson-words").startswith("You have won")
    me.fingers.tap("lesson-end")
    assert not is_shown(phone, "lesson")
    me.fingers.tap("harder")
    until(lambda: not is_shown(phone, "outcome"))
