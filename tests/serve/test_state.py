"""The state of a seat: true numbers where all is known, else its side's picture alone."""

import json
from math import atan2, cos, degrees, hypot, isclose, radians, remainder, sin

import numpy as np
import pytest
from seats import GAMES, NEAR

from midrange_puffer import Simulation
from midrange_puffer.game.contacts import TRACKS, contact_places
from midrange_puffer.game.parameters import sizes_of
from midrange_puffer.game.targets import enemies_of
from midrange_puffer.serve import state as serve_state
from midrange_puffer.serve.fields import LISTS, OWN, Field
from midrange_puffer.serve.state import Reader
from midrange_puffer.serve.words import describe

FULL = [name for name, game in GAMES.items() if "sensing" not in game]
SENSED = [name for name, game in GAMES.items() if "sensing" in game]
EVERY = 12  # decisions between two looks


def moments(game: str, red: str = "ace", blue: str = "evader", seed: int = 3):
    """Yields a simulation at several moments of a fight of two pilots, with its reader."""
    sim = Simulation(1, seed, red, blue, **NEAR | GAMES[game])
    reader = Reader(sim)
    while not sim.outcome[0]:
        yield sim, reader
        for _ in range(EVERY):
            sim.step()
    yield sim, reader


def of(bodies: dict[str, np.ndarray], number: int) -> dict[str, float]:
    return {name: float(values[0, number]) for name, values in bodies.items()}


def assert_angle(angle: float | None, expected: float, within: float = 0.01) -> None:
    assert angle is not None
    assert abs(remainder(angle - degrees(expected), 360)) < within


def assert_place(entry: dict, own: dict, body: dict) -> None:
    """Compares an enemy's or ally's entry with where it is, or is believed to be."""
    dx, dy, dz = (body.get(axis, 0.0) - own.get(axis, 0.0) for axis in "xyz")
    away = hypot(dx, dy, dz)
    assert isclose(entry["range_m"], away, rel_tol=1e-4)
    for axis in "xyz":
        if axis in body:
            assert entry[f"{axis}_m"] == pytest.approx(body[axis], abs=max(1e-4 * away, 1))
    assert_angle(entry["bearing_deg"], atan2(dy, dx) - own["heading"], 0.1)
    assert_angle(entry["heading_deg"], body["heading"], 0.1)
    assert_angle(entry["aspect_deg"], atan2(-dy, -dx) - body["heading"], 0.1)
    if entry["speed_m_s"] is not None:
        assert entry["speed_m_s"] == pytest.approx(body["speed"], rel=1e-3)
    rates = (body.get(f"v{axis}", 0.0) - own.get(f"v{axis}", 0.0) for axis in "xyz")
    closing = -sum(d * v for d, v in zip((dx, dy, dz), rates, strict=True)) / away
    if entry["closing_m_s"] is not None:
        assert entry["closing_m_s"] == pytest.approx(closing, abs=0.5)


@pytest.mark.parametrize("game", FULL)
def test_with_full_information_the_numbers_are_true(game):
    met = {"enemies": 0, "inbound": 0, "own_missiles": 0}
    for sim, reader in moments(game):
        for fighter in range(sum(sizes_of(sim.parameters))):
            if not sim.fighters["alive"][0, fighter]:
                continue
            state, own = reader.state(fighter), of(sim.fighters, fighter)
            assert state["own"]["x_m"] == pytest.approx(own["x"], abs=1e-3)
            assert state["own"]["missiles"] == own["ammo"]
            assert_angle(state["own"]["heading_deg"], own["heading"])
            enemies = enemies_of(sim, fighter)
            for entry, number in zip(state["enemies"], enemies, strict=True):
                assert_place(entry, own, of(sim.fighters, number))
                assert entry["missiles"] == sim.fighters["ammo"][0, number]
            flying = np.flatnonzero(sim.missiles["active"][0])
            missiles = [of(sim.missiles, slot) for slot in flying]
            inbound = [missile for missile in missiles if missile["target"] == fighter]
            ranges = [hypot(*(m[a] - own[a] for a in "xyz" if a in own)) for m in inbound]
            for entry in state["inbound"]:
                assert min(abs(entry["range_m"] - away) for away in ranges) < 1
            assert len(state["inbound"]) == min(len(inbound), 3)
            for part in met:
                met[part] += len(state[part])
    assert all(met.values())


@pytest.mark.parametrize("game", SENSED)
def test_with_sensors_enemies_are_where_the_picture_has_them(game):
    met = 0
    for sim, reader in moments(game, "shooter", "evader"):
        places = contact_places(sim)
        contacts = {name: values[0] for name, values in sim.contacts.items()}
        for fighter in range(sum(sizes_of(sim.parameters))):
            if not sim.fighters["alive"][0, fighter] or sim.outcome[0]:
                continue
            own = of(sim.fighters, fighter)
            tracks = [
                {name: float(values[place]) for name, values in contacts.items()}
                for (observer, _), place in places.items()
                if observer == fighter and contacts["source"][place] in TRACKS
            ]
            tracks.sort(key=lambda track: hypot(track["x"] - own["x"], track["y"] - own["y"]))
            for entry, track in zip(reader.state(fighter)["enemies"], tracks, strict=True):
                assert_place(entry, own, track)
                met += 1
    assert met


def twins(change: str, game: str) -> list[dict]:
    """States of two fights that are equal but for something that red cannot know."""
    states = []
    for changes in (False, True):
        sim = Simulation(1, 5, "straight", "straight", **GAMES[game])
        sim.set_fighter(0, 0, x=0, y=0, heading_deg=0)
        sim.set_fighter(0, 1, x=-70_000, y=0, heading_deg=180)  # behind red, flying away
        sim.step()
        if changes and change == "place":
            sim.set_fighter(0, 1, x=-65_000, y=9_000)
        if changes and change == "ammunition":
            sim.set_fighter(0, 1, ammo=2)
        if changes and change == "missile":
            sim.set_missile(0, 7, owner=1, x=-40_000, y=500, heading_deg=0, speed=700)
        states.append(Reader(sim).state(0))
    return states


@pytest.mark.parametrize("game", ["sensors", "sensors with height"])
@pytest.mark.parametrize("change", ["place", "ammunition", "missile"])
def test_hidden_things_change_nothing_and_a_planted_leak_would(change, game, monkeypatch):
    one, other = twins(change, game)
    assert one == other
    assert describe(one) == describe(other)

    honest = Reader.state

    def leaking(self, fighter):
        sim = self._sim
        truth = [sim.fighters[name][0].tolist() for name in ("x", "y", "ammo")]
        return honest(self, fighter) | {"leak": [truth, sim.missiles["active"].tolist()]}

    monkeypatch.setattr(Reader, "state", leaking)
    one, other = twins(change, game)
    assert one != other


def test_states_are_json_and_have_words_in_every_game():
    """At every moment, also of the dead and after the end; each field occurs somewhere."""
    fields: dict[str, set[str]] = {name: set() for name in [*LISTS, "own"]}
    for game in GAMES:
        for sim, reader in moments(game, seed=1):
            for fighter in range(sum(sizes_of(sim.parameters))):
                state = json.loads(json.dumps(reader.state(fighter), allow_nan=False))
                assert describe(state).endswith(".")
                fields["own"] |= set(state["own"])
                for part in LISTS:
                    for entry in state.get(part, ()):
                        fields[part] |= set(entry)
    known = {part: {field.name for field in table} for part, (_, table) in LISTS.items()}
    assert fields == known | {"own": set(OWN)}


def scene(**enemy: float) -> dict:
    sim = Simulation(1)
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=90, speed=300)
    sim.set_fighter(0, 1, **enemy)
    return Reader(sim).state(0)


@pytest.mark.parametrize(("angle", "hour"), [(0, 12), (-30, 1), (-90, 3), (180, 6), (90, 9)])
def test_words_name_range_direction_and_closing(angle, hour):
    direction = radians(90 + angle)
    place = {"x": 40_000 * cos(direction), "y": 40_000 * sin(direction)}
    words = describe(scene(**place, heading_deg=90 + angle, speed=400))
    assert "You fly at 300 m/s with 6 missiles left" in words
    assert f"40.0 km away at {hour} o'clock" in words
    closing = 300 * cos(radians(angle)) - 400
    assert f"{'closing' if closing > 0 else 'opening'} at {abs(closing):.0f} m/s" in words


def test_zones_are_those_of_the_envelope():
    """An enemy at the edge of R_NEZ is inside it from one metre on, in words and numbers."""
    state = scene(x=0, y=20_000, heading_deg=-90, speed=300)
    [enemy] = state["enemies"]
    assert 0 < enemy["r_nez_m"] < enemy["r_aero_m"] < enemy["r_max_m"] * 2
    assert enemy["r_max_m"] == pytest.approx(enemy["its_r_max_m"], rel=1e-3)  # symmetric
    assert enemy["r_nez_m"] == pytest.approx(enemy["its_r_nez_m"], rel=1e-3)
    near = scene(x=0, y=enemy["r_nez_m"] - 200, heading_deg=-90, speed=300)
    far = scene(x=0, y=enemy["r_nez_m"] + 200, heading_deg=-90, speed=300)
    assert "inside your R_NEZ" in describe(near)
    assert "inside your R_max" in describe(far)


def test_a_field_that_reads_another_name_is_left_out():
    field = Field("new", "of another game", lambda body: body.value("there_is_none"))
    body = serve_state.Body({}, {}, {})
    assert serve_state._entry((field,), body) == {}
