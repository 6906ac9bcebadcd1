"""Replays: a fight flown again is the same, bit for bit, and damaged files are refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import team_fights
from needs import nightly
from quick_fights import SHORT
from replays import forged, random_controls, record, with_header, with_parameters
from team_fights import EACH_SIZE, sized

from midrange_puffer import Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.files import WriteError
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    MISSION_PILOTS,
    SENSOR_PILOTS,
    WING_PILOTS,
)
from midrange_puffer.replays.replay import HASH_INTERVAL, Recorder, Replay, ReplayError

FIRST_LINE = b"midrange_puffer replay 1\n"


def wild_controls(rng: np.random.Generator) -> np.ndarray:
    """Returns arbitrary numbers, which the core clamps."""
    controls = random_controls(rng) + rng.normal(0, 1, (1, 2, 3))
    odd = rng.choice([np.nan, np.inf, -np.inf, -0.0, 1e-40, 1e300], (1, 2, 3))
    return np.where(rng.random((1, 2, 3)) < 0.1, odd, controls)


@pytest.mark.parametrize("count", [250, nightly(1000)])
def test_random_fights_are_flown_again_bit_for_bit(count):
    """Flies all pairs of pilots, each from another start, and compares every state."""
    pairs = list(
        product(
            [name for name in CONTROLLERS if name not in (*WING_PILOTS, *MISSION_PILOTS)], repeat=2
        )
    )
    outcomes = set()
    for number in range(count):
        pilots = pairs[number % len(pairs)]
        controls = wild_controls if number % 3 == 0 else random_controls
        by_sensors = number % 2 or not {*pilots}.isdisjoint(SENSOR_PILOTS)
        game = {"launch_interval": 2 * number / count, "sensing": "radar" if by_sensors else "full"}
        replay, expected = record(pilots, number, number % 7, number % 5, controls, **game)
        read = Replay.from_bytes(replay.to_bytes())
        assert read.controls.tobytes() == replay.controls.tobytes()
        assert [sim.fight_hash() for sim in read.play()] == expected
        for name in ("parameters", "seed", "engagement", "episode", "pilots", "names", "outcome"):
            assert getattr(read, name) == getattr(replay, name)
        outcomes.add(read.outcome)
    assert outcomes >= {"red wins", "blue wins", "mutual kill", "draw by time"}


def test_a_fight_is_kept_in_kilobytes(tmp_path):
    """A long fight, in which both seats act differently at every decision."""
    sim = Simulation(seed=1)
    recorder = Recorder(sim, seed=1, pilots=("agent", "agent"), names=("Ann", "Böb"))
    rng = np.random.default_rng(0)
    for _ in range(600):
        command = random_controls(rng)
        sim.step(command)
        recorder.add(command)
    path = tmp_path / "long.replay"
    recorder.replay(note="just so").write(path)
    assert path.stat().st_size < 6600
    read = Replay.read(path)
    read.verify()
    assert (read.names, read.meta, read.duration) == (("Ann", "Böb"), {"note": "just so"}, 300)


def test_paths_are_those_of_the_fight():
    replay, _ = record(("ace", "evader"), seed=3)
    sim = Simulation(1, 3, "ace", "evader", **SHORT)
    paths = replay.paths()
    for decision in range(replay.decisions):
        fighters = sim.fighters
        for path in paths.fighters:
            assert path.x[decision] == fighters["x"][0, path.number]
        sim.step()
    assert paths.time == pytest.approx(replay.duration)
    assert max(path.times[-1] for path in paths.fighters) == pytest.approx(replay.duration)


def test_a_replay_may_be_of_nothing():
    replay = Recorder(Simulation(seed=4), seed=4, pilots=("agent", "agent")).replay()
    read = Replay.from_bytes(replay.to_bytes())
    read.verify()
    assert (read.decisions, read.outcome, len(read.hashes)) == (0, "open", 1)


# Rewinding


@pytest.mark.parametrize("back", [0, 7, HASH_INTERVAL, HASH_INTERVAL + 1, 45])
def test_a_recorder_is_rewound_with_its_simulation(back):
    sim = Simulation(1, 5, blue="ace")
    recorder = Recorder(sim, seed=5, pilots=("agent", "ace"))
    rng = np.random.default_rng(back)
    controls = [random_controls(rng) for _ in range(45 + 30)]
    snapshot = sim.snapshot()
    for count, command in enumerate(controls[:45], 1):
        sim.step(command)
        recorder.add(command)
        if count == back:
            snapshot = sim.snapshot()
    sim.restore(snapshot)
    recorder.truncate(back)
    for command in controls[45:]:
        sim.step(command)
        recorder.add(command)
    replay = recorder.replay()
    replay.verify()
    flown = np.concatenate([*controls[:back], *controls[45:]])
    assert replay.controls.tobytes() == flown.astype(np.float32).tobytes()


def test_a_recorder_begins_at_the_start():
    sim = Simulation(1, 5, blue="ace")
    sim.start(0, engagement=2)
    for wrong in ({"engagement": 0}, {"seed": 6}, {"pilots": ("agent", "evader")}):
        place = {"seed": 5, "pilots": ("agent", "ace"), "engagement": 2} | wrong
        with pytest.raises(ValueError, match="not one engagement at the start"):
            Recorder(sim, **place)
    with pytest.raises(ValueError, match="not one engagement at the start"):
        Recorder(Simulation(2, 5), seed=5, pilots=("agent", "agent"))


# Damaged files


@pytest.fixture(scope="module")
def data(request) -> bytes:
    """A file of one against one, or of two against two with the parameter "team"."""
    if getattr(request, "param", "pair") == "team":
        return team_fights.record(sized(2, 2, time_limit=20))[0].to_bytes()
    return record(("agent", "crank"), seed=8)[0].to_bytes()


def test_every_flipped_byte_is_seen(data):
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(ReplayError):
            Replay.from_bytes(bytes(damaged))


def test_a_replay_cut_short_anywhere_is_refused_as_that(data):
    for length in range(len(data)):
        with pytest.raises(ReplayError, match="cut short"):
            Replay.from_bytes(data[:length])
    with pytest.raises(ReplayError, match="damaged"):
        Replay.from_bytes(data + b"\n")


def test_a_forgery_of_nothing_is_the_replay(data):
    assert forged(data) == with_parameters(data, lambda parameters: None) == data


@pytest.mark.parametrize(
    ("data", "change", "message"),
    [
        ("pair", {"missile_trust": 1.0}, "missile_trust is unknown.*mean 'missile_thrust'"),
        ("pair", {"gravity": None}, r"without the parameters gravity, which version \d"),
        ("pair", {"gravity": 0}, "gravity = 0: must be from 1"),
        ("pair", {"gravity": "9.8"}, "gravity = '9.8': must be a number"),
        ("pair", {"start_range_min": 9999}, "start_range_min = 9999 is above"),
        ("team", {"red_size": 3}, "4 pilots, its parameters 3 fighters of red and 2 of blue"),
        ("team", {"red_size": 1}, "4 pilots, its parameters 1 fighters of red and 2 of blue"),
        ("team", {"red_size": 17}, "red_size = 17"),
        ("team", {"red_size": "two"}, "red_size = 'two'"),
    ],
    indirect=["data"],
)
def test_parameters_of_other_rules_are_refused_by_name(data, change, message):
    def apply(parameters):
        parameters.update(change)
        for name in [name for name, value in change.items() if value is None]:
            del parameters[name]

    with pytest.raises(ReplayError, match=message):
        Replay.from_bytes(with_parameters(data, apply))


def test_parameters_without_their_hash_are_refused(data):
    parameters = Replay.from_bytes(data).parameters
    with pytest.raises(ReplayError, match="parameters have the hash"):
        Replay.from_bytes(forged(data, parameters=parameters | {"gravity": 9.7}))


@pytest.mark.parametrize(
    ("data", "changes", "message"),
    [
        ("pair", {"pilots": ["agent", "cranc"]}, "'cranc': must be .*did you mean 'crank'"),
        ("pair", {"pilots": ["agent"]}, "1 pilots, its parameters 1 fighters of red and 1 of"),
        ("pair", {"names": ["Ann", 7]}, "names that are not texts"),
        ("pair", {"seed": -1}, "seed = -1"),
        ("pair", {"seed": 1.0}, "no seed of type int"),
        ("pair", {"seed": True}, "no seed of type int"),
        ("pair", {"engagement": -1}, "engagement = -1"),
        ("pair", {"episode": 2**40}, "cannot be flown"),
        ("pair", {"outcome": None}, "no outcome of type str"),
        ("pair", {"decisions": -1}, "decisions below 0"),
        ("pair", {"decisions": 10}, "not those of 10 decisions"),
        ("pair", {"decisions": 10**9}, "controls are of 10{9} decisions, its time limit of "),
        ("pair", {"decisions": 10**30}, "controls are of 10{30} decisions, its time limit of "),
        ("pair", {"hash_interval": 0}, "hash_interval below 1"),
        ("pair", {"names": ["\ud800", "b"]}, "text that is no Unicode"),
        ("pair", {"meta": {"a": ["\udfff"]}}, "text that is no Unicode"),
        ("team", {"pilots": ["ace"] * 3}, "3 pilots, its parameters 2 fighters of red and 2 of"),
        ("team", {"pilots": ["ace"] * 16}, "16 pilots, its parameters 2 fighters"),
        ("team", {"names": ["ace"] * 4}, "4 names, not those of two sides"),
        ("team", {"pilots": ["ace", "ace", "evader", 7]}, "pilots that are not texts"),
        ("team", {"decisions": 3}, "its controls are not those of 3 decisions of 4 fighters"),
    ],
    indirect=["data"],
)
def test_a_replay_that_cannot_be_flown_is_refused_with_the_reason(data, changes, message):
    with pytest.raises(ReplayError, match=message):
        Replay.from_bytes(forged(data, **changes))


@pytest.mark.parametrize("data", ["team"], indirect=True)
def test_controls_of_more_fighters_are_none_of_fewer(data):
    other = with_parameters(data, lambda parameters: parameters.update(red_size=1))
    with pytest.raises(ReplayError, match="decisions of 3 fighters"):
        Replay.from_bytes(forged(other, pilots=["ace", "evader", "evader"]))


@pytest.mark.parametrize("line", [b"", b"{", b"\xff{}", b"[" * 200_000, b'{"a":' * 200_000])
def test_a_header_that_is_no_json_or_too_deep_is_refused(line):
    with pytest.raises(ReplayError, match=r"its header: (not JSON|nested too deeply)"):
        Replay.from_bytes(with_header(line))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\3\4", "not a replay"),
        (b"midrange_puffer replay 2\n" + b"?" * 99, "of version '2'; this version plays 1"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "some.replay"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=rf"some\.replay: .*{message}"):
        Replay.read(path)


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path):
    with pytest.raises(ReplayError, match=r"no\.replay: No such file"):
        Replay.read(tmp_path / "no.replay")
    with pytest.raises(ReplayError, match="is a folder; expected a replay"):
        Replay.read(tmp_path)
    with pytest.raises(WriteError, match="cannot write"):
        record()[0].write(tmp_path)


# Other fights


def fails_at(replay: Replay) -> int:
    with pytest.raises(ReplayError, match=r"differs at decision \d+ of .*: state hash") as error:
        replay.verify()
    return int(str(error.value).split("differs at decision ")[1].split()[0])


def test_another_fight_is_noticed_at_its_first_state_hash():
    replay, _ = record(("agent", "agent"), seed=2, start_range_min=8500)
    assert replay.decisions > HASH_INTERVAL + 6
    for decision, seat, control in ((0, 0, 0), (HASH_INTERVAL + 5, 1, 1), (-1, 1, 0)):
        controls = replay.controls.copy()
        controls[decision, seat, control] = 0.25
        steps = decision % replay.decisions + 1
        seen = min(-(-steps // HASH_INTERVAL) * HASH_INTERVAL, replay.decisions)
        assert fails_at(replace(replay, controls=controls)) == seen
    assert fails_at(replace(replay, seed=3)) == 0
    assert fails_at(replace(replay, engagement=1)) == 0
    other = replay.parameters | {"fighter_thrust": replay.parameters["fighter_thrust"] + 0.01}
    assert fails_at(replace(replay, parameters=other)) == HASH_INTERVAL


def test_an_outcome_that_did_not_come_is_noticed():
    replay, _ = record()
    with pytest.raises(ReplayError, match=f"ends with {replay.outcome!r}, not with 'nobody wins'"):
        replace(replay, outcome="nobody wins").verify()


# Teams

WINGMEN = (["agent", "evader", "evader"], "ace")


@EACH_SIZE
def test_a_fight_of_teams_is_flown_again_bit_for_bit(sizes):
    replay, hashes = team_fights.record(sized(*sizes))
    again = Replay.from_bytes(replay.to_bytes())
    assert [sim.fight_hash() for sim in again.play()] == hashes
    assert again.controls.shape == (len(hashes), sum(sizes), 3)
    assert (again.controls == replay.controls).all()
    assert again.pilots == ("ace",) * sizes[0] + ("evader",) * sizes[1]
    assert again.names == ("ace", "evader")


def test_an_agent_and_its_wingmen_are_one_pilot_each():
    replay, hashes = team_fights.record(sized(3, 2), WINGMEN, seed=2)
    again = Replay.from_bytes(replay.to_bytes())
    assert [sim.fight_hash() for sim in again.play()] == hashes
    assert again.pilots == ("agent", "evader", "evader", "ace", "ace")
    assert again.names == ("agent, evader", "ace")
    named, _ = team_fights.record(sized(3, 2), WINGMEN, seed=2, names=("Ann", "Bob"))
    assert Replay.from_bytes(named.to_bytes()).names == ("Ann", "Bob")


def test_a_replay_tells_the_types_that_its_fight_has_drawn():
    game = {"dimensions": 3, "red_missiles": "medium:4,long:2", "blue_aircraft": "light:1,heavy:1"}
    game |= {"aircraft_spread": 0.2, "time_limit": 5}
    drawn = set()
    for seed in range(4):
        replay, _ = record(("crank", "ace"), seed=seed, controls=lambda rng: None, **game)
        sim = Simulation(1, seed, **game)
        red, blue = Replay.from_bytes(replay.to_bytes()).types
        assert (red.aircraft, red.missiles) == ("light", ("medium", "long"))
        assert blue.aircraft == sim.type_names["aircraft"][sim.types["aircraft"][0, 1]]
        assert blue.factors["drag_factor"] == sim.types["drag_factor"][0, 1] != 1
        drawn.add(blue.aircraft)
    assert drawn == {"light", "heavy"}
    assert record(("crank", "ace"), seed=0, controls=lambda rng: None, time_limit=5)[0].types == ()
