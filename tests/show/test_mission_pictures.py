"""The line and the transport of a mission in pictures, pages and recordings."""

import re

import numpy as np
import pygame
import pytest
from team_fights import record

from midrange_puffer import Simulation
from midrange_puffer.game.mission_line import Line, line_of
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.records import outcome_words
from midrange_puffer.replays.acmi import DEGREE, format_acmi
from midrange_puffer.show.engagement_plot import Engagement, draw_engagement
from midrange_puffer.show.page.content import collect
from midrange_puffer.show.play.debrief import debrief
from midrange_puffer.show.play.overlay import AIM, draw_help
from midrange_puffer.show.view.moment import moment

ESCORT = {"mission": "escort", "attacker": "red", "red_size": 2, "blue_size": 2}
ESCORT |= {"time_limit": 400, "start_transport_trail": 3_000}
TRANSPORT = 1


@pytest.fixture(scope="module")
def replay():
    return record(ESCORT, ("evader", "crank"), seed=1)[0]


def across(line: Line, x: float, y: float) -> float:
    return line.way[0] * x + line.way[1] * y


def test_the_foot_and_the_ends_are_on_the_line():
    line = Line((0.6, 0.8), 10_000, 0, None)
    foot, ends = line.foot(1_000, -2_000), line.ends(1_000, -2_000, 5_000)
    assert foot == pytest.approx((7_600, 6_800))
    for point in (foot, *ends):
        assert across(line, *point) == pytest.approx(10_000)
        assert np.hypot(*np.subtract(point, foot)) == pytest.approx(5_000 * (point != foot))


def test_a_fight_has_no_line_and_a_side_knows_the_line():
    assert line_of(Simulation(1)) is None
    sim = Simulation(1, **ESCORT)
    line = Paths(sim).line
    assert (line.attacker, line.transport) == (0, TRANSPORT)
    assert moment(Paths(sim)).line == moment(Paths(sim), side=1).line == line


def test_a_recording_has_posts_on_the_line_and_a_transport(replay):
    paths = replay.paths()
    text = format_acmi(replay, paths)
    posts = re.findall(r"T=([-\d.]+)\|([-\d.]+)\|0\|.*Name=Line", text)
    assert len(posts) == 21
    for longitude, latitude in posts:
        x, y = float(longitude) * DEGREE, float(latitude) * DEGREE
        assert across(paths.line, x, y) == pytest.approx(paths.line.at, abs=0.1)
    [transport] = re.findall(r"^(\w+),T=.*Name=C-130", text, re.MULTILINE)
    assert int(transport, 16) == 1 + TRANSPORT


def test_a_page_has_the_line(replay):
    data = collect(replay, lambda count: None)["line"]
    line = replay.paths().line
    assert data == {"way": line.way, "at": line.at, "attacker": 0, "transport": TRANSPORT}


def test_a_plot_names_the_line_and_the_transport(replay):
    figure = draw_engagement(Engagement(("evader", "crank"), replay.paths(), replay.outcome))
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert {"line for red", "transport"} <= {*labels}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({1: {"alive": False}}, "blue wins: the transport is lost"),
        ({2: {"alive": False}, 3: {"alive": False}}, "red wins: nobody defends the line"),
        ({1: {"x": 0, "y": 0}}, "red wins: it crosses the line"),
    ],
)
def test_outcomes_in_words(change, words):
    sim = Simulation(1, **ESCORT)
    line = Paths(sim).line
    for fighter, state in change.items():
        if "x" in state:
            x, y = np.multiply(line.way, line.at + 100)
            state = {"x": x, "y": y}
        sim.set_fighter(0, fighter, **state)
    sim.step()
    assert outcome_words(sim) == words


DEAD, ACROSS = {"alive": False}, {"x": 0, "y": 0}
DUEL = {"mission": "line", "attacker": "red"}


@pytest.mark.parametrize(
    ("game", "change", "told"),
    [
        (DUEL, {0: ACROSS}, ["You crossed the line.", "The enemy crossed the line."]),
        (DUEL, {0: DEAD}, ["The line holds: no attacker is left."] * 2),
        (DUEL, {1: DEAD}, ["Nobody is left to defend the line."] * 2),
        (ESCORT, {1: ACROSS}, ["The transport crossed the line."] * 4),
        (ESCORT, {1: DEAD}, ["The line holds: the transport is lost."] * 4),
        (
            {"mission": "line", "attacker": "red", "red_size": 2},
            {1: ACROSS},
            ["red_1 crossed the line.", "You crossed the line."],
        ),
    ],
)
def test_the_debriefing_tells_of_the_line(game, change, told):
    sim = Simulation(1, **game)
    paths = Paths(sim)
    for fighter, state in change.items():
        if state is ACROSS:
            x, y = np.multiply(paths.line.way, paths.line.at + 100)
            state = {"x": x, "y": y}
        sim.set_fighter(0, fighter, **state)
    sim.step()
    paths.note()
    for fighter, words in enumerate(told):
        assert words in debrief(sim, paths, fighter, [])


@pytest.mark.parametrize(
    ("game", "aims"),
    [
        (
            {"mission": "line", "attacker": "blue"},
            [
                "Blue attacks: it wins when one of its fighters crosses the dashed line.",
                "Red wins when all attackers are shot down, or when the time is up.",
            ],
        ),
        (
            ESCORT,
            [
                "Red attacks: it wins when its transport, which has a ring, crosses the dashed "
                "line.",
                "Blue wins when the transport is shot down, or when the time is up.",
            ],
        ),
        ({}, ["Hit the enemy with a missile, and do not be hit."]),
    ],
)
def test_the_help_begins_with_the_aim_of_the_game(game, aims, drawn_words):
    draw_help(pygame.Surface((1280, 720)), line=line_of(Simulation(1, **game)))
    assert drawn_words[: len(aims) + 1] == [*aims, AIM[0]]


def test_the_debriefing_tells_how_far_the_line_was():
    sim = Simulation(1, **DUEL, time_limit=100)
    paths = Paths(sim)
    while not sim.outcome[0]:
        sim.step()
        paths.note()
    x, y = (sim.fighters[name][0, 0] for name in "xy")
    left = (paths.line.at - across(paths.line, x, y)) / 1000
    for fighter, who in enumerate(("you", "the enemy")):
        words = f"The line holds: {who} had {left:.1f} km left when the time was up."
        assert words in debrief(sim, paths, fighter, [])
