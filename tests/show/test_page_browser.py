"""The page of a fight in a browser: its drawings, numbers, keys and buttons."""

from importlib.resources import files

import numpy as np
import pytest
from browser import NEEDED
from pages import colour_count, go, is_shown, picture, status, text, time_of
from replays import record

from midrange_puffer import Simulation
from midrange_puffer.replays.replay import Recorder
from midrange_puffer.replays.told import tell
from midrange_puffer.show.page import render, write_page
from midrange_puffer.show.page.content import collect
from midrange_puffer.show.page.packing import pack

pytestmark = NEEDED

NAMES = ("</script><script>document.title = 'run'</script>", 'Böb & "Co" <i>\'s')
TEXTS = ("--ink", "--dim", "--red", "--blue", "--safe", "--danger", "--lock")
READABLE = 4.5  # contrast of text that WCAG 2 asks for


@pytest.fixture(scope="module")
def replay():
    return record(("ace", "evader"), seed=8, names=NAMES)[0]


@pytest.fixture
def page(window, address):
    """The page at its start; a test must not leave an error."""
    window.open("about:blank")
    window.requests.clear()
    window.open(address)
    yield window
    assert window.errors == []
    assert window.requests == [address]


def middle(page, element):
    box = f"document.getElementById('{element}').getBoundingClientRect()"
    return page.evaluate(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})")


def test_it_opens_with_names_as_they_are_and_everything_drawn(page):
    assert (text(page, "red"), text(page, "blue")) == NAMES
    assert page.evaluate("document.title").startswith(NAMES[0])
    assert text(page, "time-words").startswith("0:00.0 / ")
    for canvas in ("plane", "charts"):
        assert colour_count(page, canvas) > 50
    assert not is_shown(page, "graph")
    caption = text(page, "caption")
    assert "were the enemy there, on its present course and speed" in caption
    assert "hits against every declared evasion" in caption


def test_it_tells_what_was_flown(page, replay):
    """The numbers at the times of decisions are those of the paths."""
    fighters = replay.paths().fighters
    for index in (1, 8, len(fighters[0].times) - 2):
        go(page, f"t={fighters[0].times[index]}")
        told = status(page)
        for seat, flown in enumerate(fighters):
            assert told["speed"][seat] == f"{flown.speed[index]:.0f} m/s"
            assert told["Mach"][seat] == f"{flown.speed[index] / 340:.2f}"
            assert told["throttle"][seat] == f"{100 * flown.throttle[index]:.0f} %"
            side = "left" if flown.load[index] > 0 else "right"
            load = f"{abs(flown.load[index]):.1f} g"
            assert told["load"][seat] in (f"{load} {side}", "none")
        red, blue = fighters
        between = np.hypot(red.x[index] - blue.x[index], red.y[index] - blue.y[index]) / 1000
        assert text(page, "range").startswith(f"Range {between:.1f} km, ")


def test_no_missile_is_both_aboard_and_in_the_air(page, replay):
    """From before the first launch to within the decision of the last one."""
    paths = replay.paths()
    launches = [missile.launched for missile in paths.missiles]
    assert launches
    for time in (0, *launches, *(launch + 0.2 for launch in launches)):
        go(page, f"t={time}")
        for fighter, told in zip(paths.fighters, status(page)["missiles"], strict=True):
            own = [missile for missile in paths.missiles if missile.owner == fighter.number]
            gone = sum(missile.launched <= time for missile in own)
            flying = sum(missile.launched <= time < missile.times[-1] for missile in own)
            assert told == f"{fighter.ammo[0] - gone} left, {flying} in the air"


def test_the_end_shows_the_whole_fight(page):
    """The end is shown like a view that is fitted; before the end the view follows the fighters."""
    page.press("End")
    assert text(page, "follow") == "Follow: both"
    end = picture(page, "plane")
    page.press("0")
    assert picture(page, "plane") == end
    page.press("f")
    assert picture(page, "plane") == end
    page.press("ArrowLeft")
    followed = picture(page, "plane")
    page.press("0")
    assert picture(page, "plane") != followed


def test_keys_move_the_time(page, replay):
    for key, expected in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", replay.duration),
        ("ArrowRight", replay.duration),
        ("Home", 0),
        ("ArrowLeft", 0),
    ):
        page.press(key)
        assert time_of(page) == pytest.approx(expected)


def test_it_plays_until_it_is_stopped(page):
    page.press("+")
    assert text(page, "rate") == "2×"
    page.press(" ")
    assert text(page, "play") == "Pause"
    before = time_of(page)
    while time_of(page) < before + 0.1:
        page.frame()
    page.press(" ")
    assert text(page, "play") == "Play"
    after = time_of(page)
    page.frame()
    assert time_of(page) == after > before


def test_the_slider_and_the_charts_move_the_time(page, replay):
    plane, charts = picture(page, "plane"), picture(page, "charts")
    page.evaluate(
        "(({time}) => { time.value = 5; time.dispatchEvent(new Event('input')); })"
        "({time: document.getElementById('time')})"
    )
    page.frame()
    assert text(page, "time-words").startswith("0:05.0 / ")
    assert picture(page, "plane") != plane
    assert picture(page, "charts") != charts
    page.drag(middle(page, "charts"), middle(page, "charts"))
    assert time_of(page) == pytest.approx(replay.duration / 2, abs=0.1)


def test_the_charts_of_a_long_fight_are_drawn(window, replay, tmp_path):
    """Two fighters of 70,000 entries, more than a function of JavaScript takes as arguments."""
    told = collect(replay, lambda count: None)
    for fighter, flown in zip(told["fighters"], replay.paths().fighters, strict=True):
        values = np.array([getattr(flown, name) for name in fighter["columns"]])
        fighter["entries"] = pack(np.repeat(values, 1 + 70_000 // values.shape[1], axis=1))
    path = tmp_path / "long.html"
    path.write_text(render(told))
    window.open(path.as_uri())
    assert window.errors == []
    assert colour_count(window, "charts") > 50


def test_the_plane_moves_zooms_and_follows(page):
    assert text(page, "follow") == "Follow: both"
    at = middle(page, "plane")
    pictures = [picture(page, "plane")]
    page.drag(at, [at[0] + 80, at[1] + 40])
    assert text(page, "follow") == "Follow: off"
    pictures.append(picture(page, "plane"))
    page.wheel(at, -300)
    pictures.append(picture(page, "plane"))
    page.press("z")
    pictures.append(picture(page, "plane"))
    assert len(set(pictures)) == len(pictures)
    page.press("f")
    page.press("z")
    assert text(page, "follow") == "Follow: both"
    assert picture(page, "plane") == pictures[0]


def test_trails_fade_or_stay(page):
    go(page, "t=15")
    whole = picture(page, "plane")
    page.press("t")
    assert text(page, "trails") == "Trails: fading"
    assert picture(page, "plane") != whole


def test_the_space_time_graph_turns(page):
    go(page, "t=2")
    page.press("v")
    assert is_shown(page, "graph")
    assert not is_shown(page, "plane")
    assert "Cone: where a missile that blue fires now could be" in text(page, "caption")
    assert "Dotted: that missile, guided at the escapes. " in text(page, "caption")
    assert "Left escape: " in text(page, "caption")
    assert colour_count(page, "graph") > 100
    at = middle(page, "graph")
    pictures = [picture(page, "graph")]
    for dx, dy in ((120, 0), (0, 60)):
        page.drag(at, [at[0] + dx, at[1] + dy])
        pictures.append(picture(page, "graph"))
    page.wheel(at, -300)
    pictures.append(picture(page, "graph"))
    page.press("2")
    assert "red fires now" in text(page, "caption")
    pictures.append(picture(page, "graph"))
    assert len(set(pictures)) == len(pictures)
    page.press("1")
    page.press("0")
    assert picture(page, "graph") == pictures[0]
    page.press("v")
    assert is_shown(page, "plane")


def test_the_dead_have_no_graph_and_are_no_threat(page, replay):
    dead = [fighter.died is not None for fighter in replay.paths().fighters]
    assert any(dead)
    page.press("End")
    for seat, name in enumerate(("red", "blue")):
        page.press(str(seat + 1))
        if dead[seat]:
            assert f"{name} was killed at " in text(page, "caption")
            assert colour_count(page, "graph") == 1
        else:
            assert "there is no cone" in text(page, "caption")
            assert "escape" not in text(page, "caption")  # from whom?


def test_an_address_says_what_is_shown(page):
    go(page, "t=3&view=spacetime&seat=blue&yaw=40&pitch=30")
    assert text(page, "time-words").startswith("0:03.0 / ")
    assert is_shown(page, "graph")
    asked = picture(page, "graph")
    go(page, "yaw=41")
    assert picture(page, "graph") != asked
    go(page, "yaw=40&t=nonsense&view=sideways&seat=green")
    assert picture(page, "graph") == asked


def test_a_list_tells_what_the_fighters_do_and_marks_what_holds(page, replay):
    told = tell(replay, replay.paths())
    rows = "[...document.querySelectorAll('#told li')]"
    lines = page.evaluate(f"{rows}.map((row) => row.textContent)")
    assert len(lines) == len(told)
    for line, one in zip(lines, told, strict=True):
        assert line.endswith(one.words)
    place = len(told) // 2
    page.evaluate(f"document.querySelectorAll('#told button')[{place}].click()")
    page.frame()
    assert time_of(page) == pytest.approx(told[place].start)
    latest = {one.fighter: n for n, one in enumerate(told) if one.start <= told[place].start}
    marked = page.evaluate(f"{rows}.map((row) => row.classList.contains('now'))")
    died = [path.died for path in replay.paths().fighters]
    holds = {
        n for fighter, n in latest.items()
        if died[fighter] is None or died[fighter] > told[place].start
    }  # fmt: skip
    assert {n for n, is_marked in enumerate(marked) if is_marked} == holds


def test_help_opens_and_closes(page):
    assert not is_shown(page, "help")
    page.press("?")
    assert is_shown(page, "help")
    page.press("ArrowRight")
    assert time_of(page) == 0
    page.press("?")
    assert not is_shown(page, "help")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_the_ground(page, scheme):
    page.prefer(scheme)
    names = [*TEXTS, "--paper"]
    *texts, paper = (
        luminance(page.evaluate(
            f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()"
        ))
        for name in names
    )  # fmt: skip
    assert (paper > 0.5) == (scheme == "light")
    for name, shade in zip(TEXTS, texts, strict=True):
        light, dark = max(shade, paper), min(shade, paper)
        assert (light + 0.05) / (dark + 0.05) > READABLE, name


def luminance(colour):
    """Returns the relative luminance of #rrggbb, as WCAG 2 defines it."""
    shares = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("view", ["plane", "spacetime"])
@pytest.mark.parametrize("size", [(1280, 720), (390, 844), (844, 390)])
def test_it_fits_the_window(page, size, view):
    page.resize(*size)
    go(page, f"view={view}&t=2")
    width, height = page.evaluate(
        "(({scrollWidth, scrollHeight}) => [scrollWidth, scrollHeight])(document.documentElement)"
    )
    assert width <= size[0]
    assert height <= size[1] or size[0] < 800  # on a phone the numbers are below
    charts = page.evaluate("document.getElementById('charts').clientHeight")
    assert charts > 4 * 70  # or they would be drawn one over the other
    shown = "plane" if view == "plane" else "graph"
    box = page.evaluate(f"document.getElementById('{shown}').getBoundingClientRect().toJSON()")
    assert box["width"] > (0.5 if size == (844, 390) else 0.65) * size[0]
    assert box["height"] > 0.35 * size[1]


def test_no_label_covers_another(window):
    """Labels around one place are drawn where they have room: some of fifty, all inside."""
    assets = files("midrange_puffer.show.page") / "assets"
    code = "".join((assets / name).read_text("utf-8") for name in ("canvas.js", "labels.js"))
    boxes = window.evaluate(
        f"""(() => {{
          {code}
          const context = document.createElement('canvas').getContext('2d');
          const labels = new Labels(context, 300, 200, 'white');
          for (let i = 0; i < 50; i += 1) {{
            const place = {{ x: 150 + 60 * Math.cos(i), y: 100 + 60 * Math.sin(3 * i) }};
            labels.beside(place, 'label ' + i, {{ colour: 'black', towards: [1, i % 3 - 1] }});
          }}
          return labels.placed.map(({{ box }}) => [box.x, box.y, box.width, box.height]);
        }})()"""
    )
    assert 10 < len(boxes) < 50
    for index, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x <= x + width <= 300
        assert 0 <= y <= y + height <= 200
        for left, top, across, down in boxes[:index]:
            assert x + width <= left or left + across <= x or y + height <= top or top + down <= y


@pytest.mark.parametrize("size", [1, 2])
def test_a_fight_of_no_decision_can_be_shown(window, tmp_path, size):
    sim = Simulation(red_size=size, blue_size=size)
    replay = Recorder(sim, seed=0, pilots=["agent"] * 2 * size).replay()
    write_page(replay, tmp_path / "none.html")
    window.open((tmp_path / "none.html").as_uri())
    for key in ("End", "v", " ", "2"):
        window.press(key)
    assert is_shown(window, "graph")
    assert text(window, "time-words") == "0:00.0 / 0:00.0"
    assert window.errors == []
