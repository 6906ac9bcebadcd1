"""The page of a fight of teams: its data, and the page in a browser."""

import numpy as np
import pytest
from browser import NEEDED
from needs import nightly
from pages import columns, go, is_shown, picture, status, text, unpack
from team_fights import record, sized

from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.envelope_lookup import launch_zone
from midrange_puffer.game.paths import HIT
from midrange_puffer.game.spacetime import nearest_enemy, pair_graph
from midrange_puffer.show.page import write_page
from midrange_puffer.show.page.content import collect

NAMES = [f"{side}_{number}" for side in ("red", "blue") for number in range(4)]


@pytest.fixture(scope="module")
def replay():
    return record(sized(4, 4), ("ace", "shooter"), seed=3)[0]


@pytest.fixture(scope="module")
def paths(replay):
    return replay.paths()


@pytest.fixture(scope="module")
def told(replay):
    return collect(replay, lambda count: None)


def test_the_graphs_and_zones_are_those_of_pairs(replay, told):
    """Graphs and zones of each fighter and its nearest enemy, to within rounding to 16 bits."""
    assert (told["sizes"], list(told["callsigns"])) == ((4, 4), NAMES)
    decision = replay.duration / replay.decisions
    every = round(told["interval"] / decision)
    zones, envelope = unpack(told["zones"]), game_envelope(replay.parameters)
    own = [unpack(of["own"]) for of in told["graphs"]]
    escape_miss = [unpack(of["escapeMiss"]) for of in told["graphs"]]
    checked = 0
    for count, sim in enumerate(replay.play()):
        index, rest = divmod(count + 1, every)
        if rest or index % 2:
            continue
        state = {name: values[0] for name, values in sim.fighters.items()}
        for number in np.flatnonzero(state["alive"]):
            enemy = nearest_enemy(sim, 0, number)
            assert told["threats"][index][number] == enemy
            graph = pair_graph(sim, 0, number, enemy)
            near = told["graphs"][number]["own"]["scale"] / 2 + 0.01
            np.testing.assert_allclose(
                own[number][index], graph.own - graph.own[0], atol=near, rtol=0
            )
            miss = np.full(2, np.nan) if graph.escape_miss is None else graph.escape_miss
            np.testing.assert_array_equal(escape_miss[number][index], miss.astype(np.float32))
            for place, pair in enumerate(((number, enemy), (enemy, number))):
                ranges = zones[index, 2 * number + place, 0]
                may_fire = state["ammo"][pair[0]] > 0 and state["alive"][enemy]
                assert np.isfinite(ranges).all() == may_fire
                if may_fire:
                    angles = [state[name][list(pair)] for name in ("heading", "speed")]
                    ahead = launch_zone(
                        envelope, "aero", np.array([angles[0][0]]), *(tuple(one) for one in angles)
                    )
                    assert ranges[0] == pytest.approx(ahead[0], abs=told["zones"]["scale"])
            checked += 1
    assert checked > 30


def test_missiles_are_told_with_their_targets(paths, told):
    for packed, path in zip(told["missiles"], paths.missiles, strict=True):
        assert columns(packed)["targets"].tolist() == path.targets
        assert (packed["owner"], packed["fate"]) == (path.owner, path.fate)


# In a browser


@pytest.fixture
def page(window, address):
    window.resize(1280, 800)
    window.open("about:blank")
    window.open(address)
    yield window
    assert window.errors == []


def chosen(page) -> str:
    return page.evaluate("document.querySelector('tr.chosen').cells[0].textContent")


@NEEDED
def test_there_is_a_line_for_each_fighter(page, paths):
    """The lines at the times of decisions are those of the paths."""
    assert (text(page, "red"), text(page, "blue")) == ("ace × 4", "shooter × 4")
    for index in (1, 30, len(paths.fighters[0].times) - 2, -1):
        time = max(path.times[index] for path in paths.fighters if len(path.times) > index)
        go(page, f"t={time}")
        lines = status(page)
        assert list(lines) == NAMES
        alive = [path for path in paths.fighters if path.died is None or path.died > time]
        for path in paths.fighters:
            mach, missiles, nearest, inbound = lines[NAMES[path.number]]
            own = [one for one in paths.missiles if one.owner == path.number]
            flying = [one for one in own if one.launched <= time < one.times[-1]]
            if path not in alive:
                killers = (one.owner for one in paths.missiles
                           if one.fate == HIT and one.target == path.number)  # fmt: skip
                when = f"{int(path.died // 60)}:{int(path.died % 60):02}"
                assert nearest == f"killed {when} by {NAMES[next(killers)]}"
                continue
            now = path.at(time + 1e-6)
            assert mach == f"{path.speed[now] / 340:.2f}"
            left = path.ammo[0] - sum(one.launched <= time for one in own)
            assert missiles == (f"{left} + {len(flying)}" if flying else f"{left}")
            enemies = [one for one in alive if one.side != path.side]
            ranges = {
                NAMES[one.number]: np.hypot(one.x[now] - path.x[now], one.y[now] - path.y[now])
                for one in enemies
            }
            if ranges:
                name = min(ranges, key=ranges.get)
                assert nearest == f"{ranges[name] / 1000:.1f} km  {name}"
            at = [one for one in paths.missiles if one.launched <= time < one.times[-1]
                  and one.targets[one.at(time + 1e-6)] == path.number]  # fmt: skip
            assert inbound == (f"▲ {len(at)}" if at else "")


@NEEDED
def test_a_fighter_is_chosen_by_its_line_its_place_and_by_keys(page):
    go(page, "t=4")
    assert chosen(page) == "red_0"
    first = picture(page, "plane"), picture(page, "charts")
    page.evaluate("document.querySelectorAll('.roster tbody tr')[6].click()")
    page.frame()
    assert chosen(page) == "blue_2"
    assert picture(page, "plane") != first[0]
    assert picture(page, "charts") != first[1]
    assert text(page, "range").startswith("blue_2 and red_")
    for key, expected in (("1", "red_0"), ("1", "red_1"), ("2", "blue_0"), ("2", "blue_1")):
        page.press(key)
        assert chosen(page) == expected
    page.press("f")
    assert text(page, "follow") == "Follow: blue_1"
    box = "document.getElementById('plane').getBoundingClientRect()"
    middle = page.evaluate(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})")
    page.press("1")  # it follows that one now
    page.press("2")
    page.press("f")
    assert text(page, "follow") == "Follow: off"
    followed = chosen(page)
    page.press("1")
    assert chosen(page) != followed
    page.drag(middle, middle)  # a click where it was left
    assert chosen(page) == followed
    assert text(page, "follow") == "Follow: off"


@NEEDED
def test_the_graph_is_the_chosen_ones_with_its_threat(page, told):
    go(page, "t=5&view=spacetime&seat=blue_3")
    assert is_shown(page, "graph")
    index = int(5 / told["interval"])
    enemy = NAMES[told["threats"][index][7]]
    assert f"Cone: where a missile that {enemy} fires now could be" in text(page, "caption")
    assert text(page, "view-red") == "Space-time blue_3"
    assert not is_shown(page, "view-blue")
    graphs = {picture(page, "graph")}
    for _ in range(3):
        page.press("2")
        graphs.add(picture(page, "graph"))
    assert len(graphs) == 4


@NEEDED
def test_the_dead_have_no_graph(page, paths):
    [*dead] = (path for path in paths.fighters if path.died is not None)
    for path in dead[:2]:
        go(page, f"t={path.died + 1}&view=spacetime&seat={NAMES[path.number]}")
        assert f"{NAMES[path.number]} was killed at " in text(page, "caption")


@NEEDED
def test_it_fits_a_window_and_help_is_of_teams(page):
    for size in ((1280, 800), (1920, 1080)):
        page.resize(*size)
        aside = "document.querySelector('aside')"
        assert page.evaluate(f"{aside}.scrollWidth <= {aside}.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.press("?")
    help_words = page.evaluate("document.getElementById('help').innerText")
    assert "choose the next fighter of red, of blue" in help_words
    assert "follow both, red, blue" not in help_words


@NEEDED
@pytest.mark.parametrize("sizes", [(3, 1), nightly((1, 2)), (8, 8), nightly((16, 16))], ids=str)
def test_sides_of_any_size_are_shown_to_the_end(window, tmp_path, sizes):
    """Every fighter in both views, from the start until most are dead."""
    replay, _ = record(sized(*sizes, start_spacing_max=600, time_limit=60), ("shooter", "shooter"), seed=2)
    write_page(replay, tmp_path / "fight.html")
    window.open((tmp_path / "fight.html").as_uri())
    sides = zip(("red", "blue"), sizes, strict=True)
    names = [f"{side}_{number}" for side, size in sides for number in range(size)]
    assert list(status(window)) == names
    for time in (0, replay.duration / 2, replay.duration):
        for name in names[:: 1 if sum(sizes) < 5 else 5]:
            for view in ("plane", "spacetime"):
                go(window, f"t={time}&seat={name}&view={view}")
                assert chosen(window) == name
    assert window.errors == []
