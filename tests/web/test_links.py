"""Links to fights: short, exact, and safe to open; and the start of the day."""

import datetime

import pytest
from browser import NEEDED
from pages import click, is_shown, status, text
from play_page import press, until
from web_page import COMPILER, NODE

pytestmark = [COMPILER, NODE]

LONGEST = 120  # characters of a link's fragment
NEAR = {"start_range_min": 31_000, "start_range_max": 31_000}
TEAM = {"wingmen": ("ace", "ace"), "inputs": [8, 0, 9]}
# A human who turns this way and that, and moves the throttle; by steps of 0.1 s.
FLY = """
  const flown = (given, count, turn) => {
    const session = new Session(core, { ...given, policies });
    for (let i = 0; i < count && !session.isOver; i += 1) {
      session.steer(given.players.indexOf(HUMAN), turn(i));
      if (i % 90 === 0) session.climb(given.players.indexOf(HUMAN), [0, 1, -1][(i / 90) % 3]);
      if (i % 100 === 50) session.fire(given.players.indexOf(HUMAN));
      if (i % 150 === 40) session.switchRadar(given.players.indexOf(HUMAN));
      if (i % 200 === 110) session.dropChaff(given.players.indexOf(HUMAN));
      if (i % 200 > 190) session.setThrottle(given.players.indexOf(HUMAN), (i % 10) / 10);
      session.step();
    }
    return session;
  };
"""


@pytest.mark.parametrize(
    ("players", "parameters"),
    [
        (("human", "champion"), NEAR),
        (("evader", "human"), {"sensing": "radar", "start_off_boresight_max_deg": 12.5}),
        (("human", "crank"), {"dimensions": 3, "red_aircraft": "heavy", **NEAR}),
        (("human", "ace"), {"sensing": "radar", "emission_control": "on", "chaff": 12, **NEAR}),
    ],
)
def test_a_link_reproduces_the_fight(core, players, parameters):
    """Compares the state's hash; one may fly on in the same fight, and link it again."""
    link, is_whole, again, same = core.run(
        FLY
        + """
        const session = flown(told, 500, (i) => Math.sign(Math.trunc(1.5 * Math.sin(i / 40))));
        const [link, isWhole] = linkOf(session);
        const linked = readLink(link, tables);
        const other = new Session(core, { ...linked, policies });
        while (other.isReplayed) other.step();
        const isMarked = linked.record.mark === Number(other.sim.fightHash % 256n);
        const isSame = session.sim.fightHash === other.sim.fightHash;
        for (const each of [session, other]) for (let i = 0; i < 60; i += 1) each.step();
        answer([link, isWhole, linkOf(other)[1],
          isSame && isMarked && session.sim.fightHash === other.sim.fightHash]);
        """,
        {"players": players, "seed": 2, "engagement": 9, "parameters": parameters},
    )
    assert is_whole
    assert again
    assert same
    assert len(link) <= LONGEST


def test_a_fight_too_long_for_a_link_is_linked_by_its_start(core):
    """Every step has another position; and one where a pilot flew the human's seat at first."""
    found = core.run(
        FLY
        + """
        const random = new Random(1);
        const long = flown(told, 300, () => 2 * random.next() - 1);
        const first = new Session(core, { ...told, players: ["ace", "champion"], policies });
        for (let i = 0; i < 40; i += 1) first.step();
        answer([long, first.handOver(0, HUMAN)].map((session) => {
          const [link, isWhole] = linkOf(session);
          return [link.length, isWhole, readLink(link, tables)];
        }));
        """,
        {"players": ("human", "champion"), "engagement": 70_000, "parameters": NEAR},
    )
    for length, is_whole, linked in found:
        assert length <= LONGEST
        assert not is_whole
        assert linked["record"] == []
        assert linked["engagement"] == 70_000
        assert linked["players"] == ["human", "champion"]
        assert linked["parameters"] == NEAR | {"substeps": 1}


def test_a_damaged_link_is_refused(core):
    """Every character in turn is another one, is missing, or is the last one."""
    wrong, refused, nothing = core.run(
        FLY
        + """
        const [link] = linkOf(flown(told, 200, (i) => Math.sign(Math.sin(i / 30))));
        const same = JSON.stringify(readLink(link, tables));
        const wrong = [];
        for (let i = 3; i < link.length; i += 1) {
          const [before, at, after] = [link.slice(0, i), link[i], link.slice(i + 1)];
          const other = at === "A" ? "B" : "A";
          for (const given of [before + other + after, before + after, before]) {
            try {
              if (JSON.stringify(readLink(given, tables)) !== same) wrong.push(given);
            } catch (error) {
              if (!/damaged|another version/.test(error.message)) wrong.push(error.message);
            }
          }
        }
        let refused = "";
        try { readLink(link.slice(0, -9), tables); } catch (error) { refused = error.message; }
        answer([wrong, refused, readLink("#nothing", tables)]);
        """,
        {"players": ("human", "ace"), "seed": 2, "engagement": 9, "parameters": NEAR},
    )
    assert wrong == []
    assert "damaged or cut short" in refused
    assert nothing is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"parameters": {"missile_thrust": 1e30}}, "missile_thrust = 1.0000000150474662e+30 is"),
        ({"parameters": {"ammunition": 2.5}}, "ammunition = 2.5 is not possible."),
        ({"parameters": {"sensing": "all"}}, "damaged"),
        ({"parameters": {"start_range_min": 90_000}}, "start_range_min is greater than"),
        ({"players": ("human", "notcher")}, "That pilot needs sensors."),
        ({"engagement": 2**31}, "There is no start 2147483648, 0."),
        ({"seed": 2**60}, "There is no seed"),
        ({"parameters": {"dimensions": 3, "sensing": "sonar"}}, "damaged"),
        ({"parameters": {"dimensions": 4}}, "dimensions = 4 is not possible."),
        *(
            ({"parameters": {"dimensions": 3, name: text}}, f"“{text}” is not possible as types")
            for name, text in (
                *(("types", f"light {change}") for change in ("thrust=1e30", "lift=2", "thrust")),
                ("types", "quick=jet"),
                ("types", "__proto__=light"),
                *(("red_aircraft", mix) for mix in ("heavy:0", "light:1,medium:1", "toString")),
                ("blue_missiles", "medium:7"),
                ("blue_missiles", "medium:1.5"),
            )
        ),
        ({"inputs": [255] * 9}, "damaged"),
        *(
            ({"parameters": {side: size}, **TEAM}, "damaged")
            for side in ("red_size", "blue_size")
            for size in (0, 1.5, 5, 2**20)
        ),
    ],
)
def test_a_link_cannot_give_the_core_what_it_does_not_expect(core, changes, why):
    """A link with a right checksum may come from anywhere, and the core trusts its caller."""
    found = core.run(
        """
        const { inputs = [], ...others } = told;
        const plain = { players: ["human", "ace"], seed: 0, engagement: 0, parameters: {} };
        try {
          const link = `#f=${toBase64(sealed({ core, ...plain, ...others }, inputs))}`;
          const fight = new Session(core, { ...readLink(link, tables), policies });
          answer(["flown", fight.pilots]);
        } catch (error) {
          answer(["refused", error.message]);
        }
        """,
        changes,
    )
    assert found[0] == "refused", found
    assert why in found[1]


def test_a_day_has_one_start_for_all(core):
    """Dates name days; others are refused."""
    fights, days, refused = core.run(
        """
        const refused = ["2026-02-30", "2026-2-3", "yesterday", ""].map((text) => {
          try { return readDay(`#day=${text}`); } catch (error) { return error.message; }
        });
        answer([told.map(dailyFight), told.map((day) => readDay(`#day=${dateOf(day)}`)), refused]);
        """,
        [20_000, 20_001, 20_001],
    )
    assert days == [20_000, 20_001, 20_001]
    assert fights[1] == fights[2] != fights[0]
    assert all(str(message).startswith("There is no day") for message in refused)


@NEEDED
def test_links_in_the_address(newcomer, address):
    """A link flies the fight again; a damaged one is named; the day's start is counted."""
    page = newcomer
    click(page, "lesson-end")
    press(page, "Space")
    until(lambda: status(page)["missiles"][0].startswith("5 left"))
    click(page, "pause")
    click(page, "share")
    until(lambda: "#f=" in page.evaluate("location.href"))
    assert "link to this fight" in text(page, "message")
    link = page.evaluate("location.href")
    page.open("about:blank")
    page.open(link)
    until(lambda: text(page, "message").startswith("A recorded fight"))
    until(lambda: status(page)["missiles"][0].startswith("5 left"))
    page.open("about:blank")
    page.open(link[:-3])
    until(lambda: "damaged or cut short" in text(page, "message"))
    click(page, "daily")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    assert f"{today}" in text(page, "message")
    assert "try 1" in text(page, "message")
    assert not is_shown(page, "copy-result")
    page.requests[:] = [one.partition("#")[0] for one in page.requests if one != "about:blank"]
