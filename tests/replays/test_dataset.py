"""Datasets in Minari's format: what is written is what was flown, and Minari loads it."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from needs import need
from places import EXAMPLES, ROOT
from policies import random_policy

from midrange_puffer.checkpoint import load_policy, new_policy
from midrange_puffer.commands import cli
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.files import LockedError
from midrange_puffer.game.actions import PLANE, controls, levels
from midrange_puffer.game.parameters import resolve
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.replays import dataset as datasets
from midrange_puffer.replays.dataset import Plan, record

NEEDED = need(importlib.util.find_spec("minari"), "Minari", "pip install 'midrange_puffer[record]'")
TEAM = {"red_size": 2, "blue_size": 2, "start_spacing_min": 500, "start_spacing_max": 900}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


def plan(red: object, blue: object, seats: tuple[int, ...], **settings: object) -> Plan:
    names = tuple(one if isinstance(one, str) else "random" for one in (red, blue))
    red, blue = (load_contestant(one) if isinstance(one, str) else one for one in (red, blue))
    parameters = resolve({"time_limit": 60, **settings}, Simulation, teams=True)
    return Plan(
        contestants=(red, blue), names=names, seats=seats, engagements=5, seed=7, greedy=False,
        threads=1, parameters=parameters,
    )  # fmt: skip


def load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_levels_are_the_reverse_of_controls():
    for in_team, fire in ((False, 2), (True, 5)):
        grid = np.array([(r, t, f) for r in range(5) for t in range(3) for f in range(fire)])
        assert (levels(controls(grid, PLANE, in_team), PLANE, in_team) == grid).all()


@NEEDED
@pytest.mark.parametrize(
    ("red", "blue", "seats", "settings"),
    [
        (random_policy(), "ace,evader", (0,), {}),
        ("snake", random_policy(), (1,), {}),
        ("trained", "shooter", (1,), {"time_limit": 240}),
        ("evader", "ace", (0, 1), {"time_limit": 240}),
        (random_policy(observation="radar"), "notcher", (0,), {"sensing": "radar"}),
        (random_policy(action_mode="continuous"), "crank", (0,), {}),
    ],
)
def test_an_episode_flown_again_in_the_environment_is_the_same(
    monkeypatch, red, blue, seats, settings
):
    """The environment that Minari recovers gives the same bits for the recorded actions."""
    import minari

    monkeypatch.setattr(datasets, "AT_ONCE", 3)  # two parts
    wanted = plan(red, blue, seats, **settings)
    record("test/fights-v0", wanted)
    loaded = minari.load_dataset("test/fights-v0")
    about = list(loaded.storage.get_episode_metadata(range(len(loaded))))
    assert [entry["seat"] for entry in about] == [("red", "blue")[seat] for seat in seats] * 5
    assert loaded.total_steps == sum(len(episode) for episode in loaded)
    for episode, entry in zip(loaded, about, strict=True):
        side = entry["fighter"]
        opponent = wanted.contestants[1 - side]
        env = loaded.recover_environment(
            seat=entry["seat"], opponent=opponent if isinstance(opponent, str) else "straight"
        )
        observation, _ = env.reset(seed=entry["seed"], options=entry["options"])
        assert (observation == episode.observations[0]).all()
        if not isinstance(opponent, str):
            continue  # it draws other actions in the environment
        for step, action in enumerate(episode.actions):
            observation, reward, terminated, truncated, info = env.step(action)
            assert (observation == episode.observations[step + 1]).all()
            assert (reward, terminated, truncated) == (
                episode.rewards[step], episode.terminations[step], episode.truncations[step]
            )  # fmt: skip
        assert terminated or truncated
        assert info["score"] == entry["score"]
        assert info["opponent"] == entry[("blue", "red")[side]]


@NEEDED
def test_the_truth_is_what_a_simulation_shows():
    """The recorded controls of both sides, flown in a `Simulation`, pass the recorded states."""
    import minari

    record("fights-v3", plan("evader", "ace", (0, 1), time_limit=240))
    loaded = minari.load_dataset("fights-v3")
    fighter_columns, missile_columns = (
        loaded.storage.metadata[name] for name in ("fighter_columns", "missile_columns")
    )
    red, blue = loaded[0], loaded[1]
    [entry] = loaded.storage.get_episode_metadata([0])
    sim = Simulation(1, entry["seed"], time_limit=240)
    sim.start(0, entry["options"]["engagement"])
    has_missiles = False
    for step, both in enumerate(zip(red.actions, blue.actions, strict=True)):
        sim.step(np.stack(both)[None])
        fighters = dict(zip(fighter_columns, red.infos["fighters"][step + 1].T, strict=True))
        missiles = dict(zip(missile_columns, red.infos["missiles"][step + 1].T, strict=True))
        for name, ours in (("x", "x"), ("y", "y"), ("alive", "alive"), ("ammunition", "ammo")):
            assert (fighters[name] == sim.fighters[ours][0]).all()
        for name in ("x", "y", "speed", "active", "owner", "target"):
            assert (missiles[name] == sim.missiles[name][0]).all()
        has_missiles |= bool(missiles["active"].any())
    assert has_missiles
    assert sim.outcome[0]


@NEEDED
def test_with_height_the_truth_has_the_types_of_missiles_and_of_each_fight():
    import minari

    game = {"dimensions": 3, "red_missiles": "short:1,long:2", "blue_aircraft": "light:1,heavy:1",
            "missile_spread": 0.2, "time_limit": 90, "start_range_min": 15_000,
            "start_range_max": 20_000}  # fmt: skip
    record("height-v0", plan("crank", "ace", (0, 1), **game))
    loaded = minari.load_dataset("height-v0")
    columns = loaded.storage.metadata["missile_columns"]
    aircraft, kinds = set(), set()
    for first in range(0, len(loaded), 2):
        red, blue = loaded[first], loaded[first + 1]
        [entry] = loaded.storage.get_episode_metadata([first])
        sim = Simulation(1, entry["seed"], **game)
        sim.start(0, entry["options"]["engagement"])
        names, drawn = sim.type_names, {name: values[0] for name, values in sim.types.items()}
        assert entry["red_missiles"] == "short,long"
        for side, name in enumerate(("red", "blue")):
            assert entry[f"{name}_aircraft"] == names["aircraft"][drawn["aircraft"][side]]
            for factor in ("missile_thrust_factor", "thrust_factor"):
                assert entry[f"{name}_{factor}"] == drawn[factor][side]
        aircraft.add(entry["blue_aircraft"])
        for step, both in enumerate(zip(red.actions, blue.actions, strict=True)):
            sim.step(np.stack(both)[None])
            missiles = dict(zip(columns, red.infos["missiles"][step + 1].T, strict=True))
            for name in ("z", "active", "kind"):
                assert (missiles[name] == sim.missiles[name][0]).all()
            kinds |= set(missiles["kind"][missiles["owner"] == 0].tolist())
    assert aircraft == {"light", "heavy"}
    assert kinds == {0, 1}


@NEEDED
def test_teams():
    import minari

    policy = random_policy(observation="team", sizes=(2, 2))
    record("team-v0", plan(policy, "ace", (0,), **TEAM))
    loaded = minari.load_dataset("team-v0")
    assert [loaded.action_space.nvec.tolist(), len(loaded)] == [[5, 3, 3], 10]
    assert all(loaded.action_space.contains(action) for action in loaded[3].actions)
    assert loaded[0].infos["fighters"].shape[1:] == (4, 6)
    with pytest.raises(UsageError, match="only policies with levels can be recorded"):
        record("team-v1", plan(policy, "ace", (1,), **TEAM))


@NEEDED
def test_the_page_s_snippets_run():
    record("midrange/champion-v0", plan("champion", "straight,ace", (0,)))
    snippets = re.findall(r"```py\n(.*?)```", (ROOT / "docs/datasets.md").read_text(), re.DOTALL)
    assert snippets
    exec("\n".join(snippets), {})


@NEEDED
@pytest.mark.slow
def test_the_example_clones_a_policy(tmp_path, monkeypatch):
    """The clone is likelier to do what its teacher did than a new policy, and can be loaded."""
    record("teacher-v0", plan("trained", "ace", (0,), time_limit=240))
    example = load_module(EXAMPLES / "clone_champion.py")
    monkeypatch.setattr(example, "BATCH", 64)
    example.clone("teacher-v0", tmp_path / "clone.pt", epochs=40, hidden_size=32, seed=0)
    cloned, entries = load_policy(tmp_path / "clone.pt")
    assert entries["policy"]["hidden_size"] == 32
    observations, actions, first = example.load("teacher-v0")
    assert 0 < first < len(actions)
    new = new_policy(load_config(None, ["--policy.hidden-size=32"]))
    losses = (example.loss_of(policy, observations, actions).sum() for policy in (cloned, new))
    assert next(losses) < 0.7 * next(losses)


@NEEDED
def test_a_recording_that_is_interrupted_leaves_nothing(folder, monkeypatch):
    monkeypatch.setattr(datasets, "AT_ONCE", 2)
    ended = 0

    def interrupt(count: int) -> None:
        nonlocal ended
        ended += count
        if ended > 2:  # the first part is written
            assert (folder / "broken-v0/data/main_data.hdf5").stat().st_size > 10_000
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record("broken-v0", plan("ace", "evader", (0,)), interrupt)
    assert not (folder / "broken-v0").exists()


@NEEDED
def test_two_recordings_of_one_name_do_not_meet(folder):
    """The later one is refused at once, and leaves the earlier one's dataset alone."""
    refused = []

    def record_another(count: int) -> None:
        with pytest.raises(
            LockedError, match=r"another process is recording this dataset: process"
        ):
            record("one-v0", plan("ace", "evader", (0,)), lambda count: None)
        refused.append(count)

    record("one-v0", plan("ace", "evader", (0,)), record_another)
    assert refused
    assert [path.name for path in folder.iterdir() if path.name.startswith((".", "one"))] == [
        "one-v0"
    ]
    with pytest.raises(ValueError, match="exists in"):
        record("one-v0", plan("ace", "evader", (0,)), lambda count: None)
    assert (folder / "one-v0/data/main_data.hdf5").stat().st_size > 10_000


@NEEDED
def test_the_command_writes_a_dataset_and_refuses_wrong_words(folder, capsys):
    words = ["--dataset", "mine/trained-v1", "--red", "trained", "--episodes", "6"]
    assert cli.run("record", words) == 0
    assert "mine/trained-v1: 6 episodes" in capsys.readouterr().out
    metadata = json.loads((folder / "mine/trained-v1/data/metadata.json").read_text())
    assert (metadata["total_episodes"], metadata["algorithm_name"]) == (6, "trained")
    for wrong, message in (
        (words, r"--dataset = mine/trained-v1: exists in"),
        (["--dataset", "mine"], r"must be NAME-vNUMBER or FOLDER/NAME-vNUMBER"),
        (["--dataset", "a-v0", "--red", "acee"], r"did you mean 'ace'"),
        (["--dataset", "a-v0", "--red", "self"], r"is for --blue"),
        ([], r"--dataset is missing"),
    ):
        with pytest.raises(UsageError, match=message):
            cli.run("record", wrong)
