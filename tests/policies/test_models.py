"""The models that come with the package, and the figures that the champions' pages quote."""

import hashlib
import re

import numpy as np
import pytest
from places import ROOT

from midrange_puffer import FEATURES
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.contest.panel import interval, meet_row, rows_of
from midrange_puffer.errors import UsageError
from midrange_puffer.game.games import DEFAULT_GAME, GAMES, game_name
from midrange_puffer.game.parameters import resolve
from midrange_puffer.gym import MidrangeVectorEnv
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.mix import MODEL, kind_of
from midrange_puffer.policies.models import (
    CHAMPION,
    FOLDER,
    TRAINED,
    champion_file,
    path_of,
    shipped_models,
)
from midrange_puffer.policies.player import Player

NAMES = sorted(
    path.parent.name
    for path in FOLDER.glob("*/config.ini")
    if path.with_name(f"{TRAINED}_{path.parent.name}.pt").is_file()
)
OTHER_GAMES = [game for game in GAMES if game != DEFAULT_GAME and champion_file(game).is_file()]
PAGE = (ROOT / "docs" / "champion.md").read_text()
PAGES = PAGE + (ROOT / "docs" / "other-champions.md").read_text()
CHAMPION_FILE = path_of(CHAMPION)
EXPORTED = CHAMPION_FILE.with_suffix(".onnx")
QUICK = ("evader", "turn_back", "ace", "frozen:default_1")  # rows of the panel


def test_there_is_one_for_each_configuration_of_a_main_run():
    assert NAMES == ["curriculum", "default", "selfplay"]
    names = sorted([*NAMES, "former"])
    champions = [CHAMPION, *(f"{CHAMPION}:{game}" for game in OTHER_GAMES)]
    trained = [TRAINED, *(f"{TRAINED}:{name}" for name in names)]
    assert list(shipped_models()) == [*champions, *trained]
    assert path_of(TRAINED) == path_of(f"{TRAINED}:default")


@pytest.mark.parametrize("name", NAMES)
def test_each_is_what_its_configuration_makes(name):
    path = path_of(f"{TRAINED}:{name}")
    _, model = load_policy(path)
    made_by = load_config(str(path.with_name("config.ini")), [])
    present = load_config(str(ROOT / "configs" / f"{name}.ini"), [])
    assert {section: dict(made_by[section]) for section in made_by} == {
        section: dict(present[section]) for section in present
    }
    assert model["policy"]["hidden_size"] == present["policy"]["hidden_size"]
    # Whole updates: the last one begins before the end of the run.
    assert 1 <= model["agent_steps"] / present["train"]["total_timesteps"] < 1.01


@pytest.mark.parametrize("name", NAMES)
def test_each_beats_the_hardest_pilot(name):
    policy, _ = load_policy(f"{TRAINED}:{name}")
    assert evaluate(policy, "ace", episodes=200, seed=0)["score"] > 0.8


def test_it_flies_the_other_seat_of_an_environment():
    """It shoots down an idle fighter."""
    env = MidrangeVectorEnv(num_envs=4, opponent=TRAINED)
    env.reset(seed=0)
    idle, results = np.tile([2, 1, 0], (4, 1)), []
    while len(results) < 8:
        _, rewards, terminations, truncations, _ = env.step(idle)
        results += list(rewards[terminations | truncations])
    assert np.mean(np.array(results) < 0) > 0.7


def test_a_wrong_name_gets_the_right_one():
    assert kind_of("trained:selfpaly") == MODEL
    with pytest.raises(UsageError, match=r"trained:selfpaly.*did you mean 'trained:selfplay'"):
        path_of("trained:selfpaly")


def test_every_folder_of_a_champion_is_of_a_game():
    folders = {path.name for path in FOLDER.glob(f"{CHAMPION}_*")}
    assert folders == {f"{CHAMPION}_{game}" for game in OTHER_GAMES}


@pytest.mark.parametrize("game", OTHER_GAMES)
def test_a_champion_of_another_game_is_what_its_configuration_makes(game):
    path = champion_file(game)
    _, model = load_policy(f"{CHAMPION}:{game}")
    made_by = load_config(path.with_name("config.ini"), complete=True)
    assert made_by.as_dict() == load_config(f"configs/{CHAMPION}_{game}.ini").as_dict()
    assert game_name(model["env"]) == game
    # The file may be older than a key.
    assert model["policy"].items() <= dict(made_by.policy).items()


CHAMPION_FILES = [
    path
    for game in (DEFAULT_GAME, *OTHER_GAMES)
    for path in (champion_file(game), champion_file(game).with_suffix(".onnx"))
]


@pytest.mark.parametrize("path", CHAMPION_FILES, ids=lambda path: path.name)
def test_the_page_quotes_this_file(path):
    content = path.read_bytes()
    assert f"`{path.name}` | `{hashlib.sha256(content).hexdigest()}`" in PAGES
    assert len(content) <= 250_000


def quoted(row: str) -> tuple[float, float]:
    """Returns the interval of the score that the page gives for a row of the panel."""
    match = re.search(rf"^\| `{row}` \|.*\((\d\.\d+)–(\d\.\d+)\) \|$", PAGE, re.MULTILINE)
    return float(match[1]), float(match[2])


@pytest.mark.parametrize("name", QUICK)
def test_it_plays_what_the_page_says(name):
    """With other starts, the 95 % intervals of both scores overlap."""
    (row,) = (row for row in rows_of(0) if row.name == name)
    result, _ = meet_row(load_policy(CHAMPION)[0], row, 256, 7, False, parameters=resolve({}))
    low, high = interval(result)
    least, most = quoted(name)
    assert low <= most
    assert least <= high


def test_the_exported_file_is_the_same_policy():
    """C and onnxruntime choose the same likeliest controls, except in near ties."""
    random = np.random.default_rng(3)
    observations = random.uniform(-1, 1, (1000, len(FEATURES))).astype(np.float32)
    controls = [
        Player(load_policy(path)[0], 1000, seed=0, greedy=True).act(observations, np.arange(1000))
        for path in (CHAMPION_FILE, EXPORTED)
    ]
    assert (controls[0] == controls[1]).all(axis=1).mean() > 0.995
