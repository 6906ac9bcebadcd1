"""The name `champion` means the champion of the game that is flown, wherever it is given."""

import json

import numpy as np
import pytest
import runs
import stand_ins

from midrange_puffer.commands import cli, league, record
from midrange_puffer.commands import play as play_mode
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.errors import UsageError
from midrange_puffer.game.games import DEFAULT_GAME, GAMES, game_name
from midrange_puffer.game.parameters import EASY
from midrange_puffer.gym import MidrangeEnv
from midrange_puffer.policies.champions import chosen_in_game, in_game
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.policies.models import CHAMPION, champion_file, champion_name, path_of
from midrange_puffer.train.run_folder import settled_models

SHIPPED = ("radar", "team2")  # the games of the stand-ins
SENSORS = ["--env.sensing", "radar"]
TEAMS = ["--env.red-size", "2", "--env.blue-size", "2"]
QUICK = {"time_limit": 20.0}


@pytest.fixture(autouse=True)
def champions(tmp_path_factory):
    with stand_ins.champions(tmp_path_factory.mktemp("models"), SHIPPED):
        yield


def eval_report(tmp_path, *words):
    out = tmp_path / "report.json"
    words = [*words, "--env.time-limit", str(QUICK["time_limit"]), "--episodes", "4"]
    assert cli.run("eval", [*words, "--json", str(out)]) == 0
    return json.loads(out.read_text())


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_known_by_what_agents_observe(game):
    assert game_name(GAMES[game].settings) == game
    assert game_name({**GAMES[game].settings, "ammunition": 2}) == game


def test_other_games_have_no_name():
    for settings in ({"red_size": 2}, {"red_size": 3, "blue_size": 3}, {"dimensions": 3}):
        assert game_name(settings) is None


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("champion:1", {"champion": 1}),
        ("champion:radar", {"champion:radar": 1}),
        ("champion:radar:3,ace:1", {"champion:radar": 0.75, "ace": 0.25}),
        ("champion:radar:1,champion:1", {"champion:radar": 0.5, "champion": 0.5}),
    ],
)
def test_a_number_is_a_share_and_a_word_is_a_game(text, parsed):
    assert parse_mix(text) == parsed


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("champion", "champion:team2"),
        ("ace:2,champion:1", "ace:2,champion:team2:1"),
        (" ace : 2 , crank", " ace : 2 , crank"),
        ("champion:radar:2", "champion:radar:2"),
    ],
)
def test_the_champion_in_a_mix_is_that_of_the_game(text, chosen, capsys):
    assert chosen_in_game(text, GAMES["team2"].settings) == chosen
    said = capsys.readouterr().err
    assert (said == "champion: champion:team2, of the game two against two\n") == (chosen != text)
    assert in_game(text, {}) == text


def test_a_game_without_a_champion_gets_the_games_that_have_one():
    has = r"default \(one against one\), radar \(.*\), team2 \(two against two\)$"
    for settings, name in (
        (GAMES["team2_radar"].settings, r"team2_radar \(two against two with sensors\)"),
        ({"red_size": 3, "blue_size": 3}, "red_size = 3, blue_size = 3"),
        ({"dimensions": 3}, "dimensions = 3"),
    ):
        with pytest.raises(UsageError, match=f"none of the game {name}; .*{has}"):
            in_game("ace,champion", settings)
    with pytest.raises(UsageError, match="in this game champion is champion:radar, which is given"):
        in_game("champion:radar,champion", GAMES["radar"].settings)
    with pytest.raises(UsageError, match="did you mean 'champion:team2'"):
        path_of("champion:team2_rada")


@pytest.mark.parametrize(
    ("words", "name"),
    [([], CHAMPION), (SENSORS, "champion:radar"), (TEAMS, "champion:team2")],
)
def test_eval_takes_the_champion_of_its_game(words, name, tmp_path, capsys):
    report = eval_report(tmp_path, "--load-model-path", CHAMPION, "--opponent", "ace", *words)
    assert report["model"] == str(path_of(name))
    told = capsys.readouterr()
    assert (f"champion: {name}, of the game" in told.err) == (name != CHAMPION)
    named = eval_report(tmp_path, "--load-model-path", name, "--opponent", "ace")
    assert named["opponents"] == report["opponents"]


def test_the_game_of_an_opponent_is_that_of_the_model(tmp_path):
    report = eval_report(
        tmp_path, "--load-model-path", "champion:team2", "--opponent", "champion:1,ace:1"
    )
    assert list(report["opponents"]) == ["champion:team2:1,ace:1"]


def test_players_of_a_window(capsys):
    pytest.importorskip("pygame")
    for words, blue in (
        ([], EASY),
        ([*TEAMS, *SENSORS], EASY),
        (["--red", "champion:team2"], "champion:team2"),
        (["--red", CHAMPION, "--blue", "champion:radar"], "champion:radar"),
    ):
        options = play_mode.read(words)
        assert options.blue == blue
        if options.red != "human":
            assert options.red == blue
    with pytest.raises(UsageError, match="none of the game team2_radar"):
        play_mode.read([*TEAMS, *SENSORS, "--blue", CHAMPION])


def test_players_of_a_league_are_of_one_game():
    options = league.read(["champion", "champion:radar"])
    assert list(options.models.values()) == [champion_file("radar")]
    options = league.read(["champion", *TEAMS])
    assert list(options.models.values()) == [champion_file("team2")]
    options = league.read(["champion", "trained"])
    assert list(options.models.values()) == [path_of(CHAMPION), path_of("trained")]


def test_a_dataset_is_flown_by_the_champion_of_its_game(tmp_path, monkeypatch):
    pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    options = record.read(["--dataset", "own/fights-v0", "--blue", "ace,champion", *SENSORS])
    assert (options.red, options.blue) == ("champion:radar", "ace,champion:radar")


@pytest.mark.parametrize("game", [DEFAULT_GAME, *SHIPPED])
def test_environments_take_it_without_a_word(game, capsys):
    """The same fights as against the champion under its full name."""
    settings, name = GAMES[game].settings, champion_name(game)
    seen = []
    for opponent in (CHAMPION, name):
        env = Midrange(4, f"{opponent}:1,shooter:1", seed=2, **settings)
        env.reset()
        for _ in range(40):
            env.step(np.ones(env.actions.shape, env.actions.dtype))
        seen.append(env.state_hash())
    assert seen[0] == seen[1]
    env = MidrangeEnv(opponent=CHAMPION, time_limit=2.0, **settings)
    env.reset(seed=1)
    over = False
    while not over:
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        over = terminated or truncated
    assert info["opponent"] == name
    assert capsys.readouterr().err == ""


def test_a_function_call_takes_it():
    results = [
        evaluate(name, "ace", 4, **QUICK, sensing="radar") for name in (CHAMPION, "champion:radar")
    ]
    assert results[0] == results[1]
    with pytest.raises(UsageError, match="none of the game red_size = 3"):
        evaluate("ace", CHAMPION, 4, red_size=3)


def test_training_takes_it(tmp_path, capsys):
    words = [*runs.TEAM, "--env.opponent", "champion:1,self:1", "--train.total-timesteps=8192"]
    assert runs.train(tmp_path, *words) == 0
    told = capsys.readouterr().err
    assert told.count("champion: champion:team2, of the game two against two\n") == 1
    config = load_config(tmp_path / "run" / "config.ini", complete=True)
    assert parse_mix(config.env.opponent) == {"champion": 0.5, "self": 0.5}


def test_models_of_a_configuration_are_those_of_its_game():
    words = ["--load-model-path", CHAMPION, "--pool.include", "trained, champion", *SENSORS]
    config = settled_models(load_config(None, words))
    assert config.base.load_model_path == "champion:radar"
    assert config.pool.include == "trained,champion:radar"
    plain = load_config(None, words[:4])
    assert settled_models(plain).as_dict() == plain.as_dict()
