"""A run with exploiters: their opponents, their table, and an otherwise equal run."""

import errno
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import runs
from near_exploiters import near_exploiters
from needs import nightly
from runs import MIX, members

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import UserError
from midrange_puffer.files import write_whole
from midrange_puffer.json_files import JsonError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.train import exploiter
from midrange_puffer.train.exploiters import DISK_FULL
from midrange_puffer.train.population import Population
from midrange_puffer.train.run_files import (
    POPULATION,
    POPULATION_TABLE,
    Turn,
    read_turns,
    write_turns,
)
from midrange_puffer.train.run_folder import Run

pytestmark = pytest.mark.slow


def words(folder: Path, interval: int = 2) -> list[str]:
    """Returns the options of a run of six updates with an exploiter after each second one."""
    ini = folder / "exploit.ini"
    text = runs.SMALL.replace("opponent = straight", "opponent = pool")
    ini.write_text(text.replace("time_limit = 10\n", "").replace("start_range_", "# "))
    return [
        *MIX,
        "--pool.size=6",
        "--train.checkpoint-interval=1",
        f"--population.interval={interval}",
        "--population.budget=2048",
        f"--population.config={ini}",
        "--train.threads=1",
    ]


@pytest.fixture
def here() -> Iterator[None]:
    """Trains exploiters in this process."""
    with near_exploiters():
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("population")
    with near_exploiters():
        assert runs.train(folder, *words(folder)) == 0
    return folder / "run"


def configs(run: Path) -> list:
    """Returns the configurations of the exploiters in order."""
    folders = sorted((run / "exploiters").iterdir())
    return [load_config(folder / "config.ini", complete=True) for folder in folders]


def test_a_kind_may_set_its_reward_for_a_draw_its_entropy_and_its_rate(tmp_path, here):
    kinds = ["--population.kinds=own:-0.5:0.02:0.003,own", "--population.budget=1024"]
    assert runs.train(tmp_path, *words(tmp_path), *kinds) == 0
    run = tmp_path / "run"
    exploit = load_config(str(tmp_path / "exploit.ini"))
    *trained, plain = [
        (config.env["reward_draw"], config.train.ent_coef, config.train.learning_rate)
        for config in (*configs(run), exploit)
    ]
    assert trained[:2] == [(-0.5, 0.02, 0.003), plain] != [plain, plain]
    told = [(turn.reward_draw, turn.ent_coef, turn.learning_rate) for turn in read_turns(run)]
    assert told[:2] == [(-0.5, 0.02, 0.003), (None, None, None)]
    assert "own:-0.5:0.02:0.003" in (run / "population.txt").read_text()


def test_the_strongest_exploiter_goes_on(tmp_path, here, monkeypatch):
    """The first begins as the policy, later ones as that which the policy does worst against."""
    expected, words_of = [], Population._words

    def watched(population: Population, *given: object) -> list[str]:
        pool = [member for member in population._pool.members if member.exploiter]
        for number, member in enumerate(pool):
            # The second is the strongest; the last has not been met, which is no merit.
            member.score, member.games = (abs(number - 1) / 10, 5) if number < 3 else (-1.0, 0)
        first = str(tmp_path / "run" / "model_000001.pt")
        strongest = pool[min(1, len(pool) - 1)].path if pool else first
        expected.append(str(tmp_path / "run" / strongest))
        return words_of(population, *given)

    monkeypatch.setattr(Population, "_words", watched)
    kinds = ["--population.kinds=strongest", "--population.budget=1024", "--pool.size=8"]
    assert runs.train(tmp_path, *words(tmp_path, interval=1), *kinds) == 0
    starts = [config["base"]["load_model_path"] for config in configs(tmp_path / "run")]
    assert starts == expected
    assert len(set(starts)) >= 3


@pytest.mark.nightly
def test_exploiters_of_a_team_are_teams(tmp_path, here):
    """They play the game of the run and join its pool."""
    kinds = ["--population.budget=4096", "--population.kinds=own,anew"]
    assert runs.train(tmp_path, *runs.TEAM, *words(tmp_path), *kinds) == 0
    run = tmp_path / "run"
    turns = read_turns(run)
    assert [turn.kind for turn in turns] == ["own", "anew"][: len(turns)]
    assert {config["env"]["red_size"] for config in configs(run)} == {2}
    assert set(members(run)) >= {f"{Path(turn.path).parent.name}/{Path(turn.path).stem}"
                                 for turn in turns}  # fmt: skip


def test_each_kind_fights_whom_it_is_to(finished):
    turns = read_turns(finished)
    assert [(turn.kind, turn.epoch) for turn in turns] == [("anew", 2), ("own", 4)]
    anew, own = configs(finished)
    assert anew["pool"]["include"] == str(finished / "model_000002.pt")
    assert anew["base"]["load_model_path"] is None
    victim = str(finished / "model_000004.pt")
    assert own["pool"]["include"] == own["base"]["load_model_path"] == victim
    for config in (anew, own):
        assert config["env"]["opponent"] == "pool"
        assert config["env"]["time_limit"] == 10  # the game of the run, not of exploit.ini


def test_noted_scores_are_those_of_a_new_measurement(finished):
    config = load_config(finished / "config.ini", complete=True)
    game = {name: config["env"][name] for name in ("time_limit", "start_range_min")}
    game["start_range_max"] = config["env"]["start_range_max"]
    for turn in read_turns(finished):
        model, victim = finished / turn.path, finished / turn.against
        found = evaluate(model, victim, 400, seed=turn.epoch, **game)
        assert [found[name] for name in ("win", "draw", "loss")] == [
            turn.win, turn.draw, turn.loss
        ]  # fmt: skip
        assert load_policy(model)[1]["agent_steps"] == turn.decisions
    lines = (finished / POPULATION_TABLE).read_text().splitlines()
    assert len(lines) == 3
    assert lines[1].split()[:3] == ["1", "anew", "model_000002.pt"]


def test_exploiters_join_the_pool_beside_the_checkpoints(finished):
    entries = members(finished)
    paths = {entry["path"] for entry in entries.values() if entry["exploiter"]}
    assert paths == {turn.path for turn in read_turns(finished)}
    assert sum(not entry["exploiter"] for entry in entries.values()) == 4  # of room for six
    assert all((finished / entry["path"]).is_file() for entry in entries.values())


def test_until_the_first_has_joined_the_run_is_the_same_without(finished, tmp_path):
    assert runs.train(tmp_path, *words(tmp_path, interval=0)) == 0
    with_them, without = runs.timeless(finished), runs.timeless(tmp_path / "run")
    assert with_them[:2] == without[:2]
    assert not (tmp_path / "run" / POPULATION).exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (DISK_FULL, "an exploiter cannot be written to .*/run: No space left on device$"),
        (1, "an exploiter ended with exit code 1; see .*/run/exploiters.log"),
    ],
)
def test_an_exploiter_that_fails_says_why(tmp_path, monkeypatch, code, message):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexit {code}\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    (tmp_path / "run").mkdir()
    run = Run(tmp_path / "run", load_config())
    with pytest.raises(UserError, match=message):
        Population(run, None, lambda: False)._train([])


@pytest.mark.parametrize(
    ("number", "expected"), [(errno.ENOSPC, DISK_FULL), (errno.EDQUOT, DISK_FULL), (errno.EIO, 1)]
)
def test_an_exploiter_without_room_has_its_own_exit_code(tmp_path, monkeypatch, number, expected):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(exploiter, "Trainer", lambda *_, **__: write_whole(tmp_path / "file", b""))
    monkeypatch.setattr(exploiter, "_wait_for_end", lambda is_stopped: None)
    monkeypatch.setattr(os, "fsync", fail)
    assert exploiter.main(["0.7", "exploit.ini"]) == expected


def test_one_who_scores_enough_is_done(tmp_path, here):
    """Engagements of a second are draws, so the score is a half after the first update."""
    options = ("--env.time-limit=1", "--population.score=0.5", "--population.budget=1e9")
    assert runs.train(tmp_path, *words(tmp_path), *options, "--train.total-timesteps=4608") == 0
    (turn,) = read_turns(tmp_path / "run")
    assert turn.decisions < 10_000
    assert turn.draw == 1


@pytest.mark.parametrize(("sent", "code"), [nightly(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_one_that_is_cut_short_is_trained_when_the_run_goes_on(tmp_path, sent, code):
    process = runs.start(tmp_path, *words(tmp_path), "--population.budget=1e9")
    folder = tmp_path / "run"
    while not [*folder.glob("exploiters/*/metrics.jsonl")]:
        time.sleep(0.05)
    exploiters = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(sent)
    process.communicate(timeout=60)
    assert process.returncode == code
    assert psutil.wait_procs(exploiters, timeout=30)[1] == []
    assert read_turns(folder) == []
    with near_exploiters():
        assert runs.resume(folder, "--population.budget=2048", "--train.total-timesteps=7680") == 0
    kinds = [turn.kind for turn in read_turns(folder)]
    assert kinds == ["anew", "own"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--env.opponent=straight"], "exploiters join the pool"),
        (["--pool.own=False", "--pool.include=trained"], "exploiters join the pool"),
        (
            ["--population.kinds=own:x"],
            "'own:x': must have the form start, start:draw, start:draw:entropy",
        ),
        (["--population.kinds=own,own:-20"], "own:-20: a draw must pay from -10 to 10"),
        (["--population.kinds=own:0:nan"], "own:0:nan: entropy nan: must be a number from 0"),
        (["--population.kinds=own:0:0:2"], "own:0:0:2: rate 2: must be a number from 1e-08 to 1"),
        (["--population.kinds=anew,nobody"], "'nobody' is none: must be of anew, own, league"),
        (["--population.config=nowhere.ini"], "nowhere.ini"),
        (["--population.budget=100"], "population.budget = 100: must be at least 1024, the batch"),
    ],
)
def test_an_impossible_population_is_refused_before_training(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        runs.train(tmp_path, *words(tmp_path), *options)
    assert not (tmp_path / "run").exists()


def test_a_damaged_table_is_refused(finished, tmp_path):
    run = shutil.copytree(finished, tmp_path / "run")
    content = json.loads((run / POPULATION).read_text())
    content["turns"][0]["win"] = 2
    (run / POPULATION).write_text(json.dumps(content))
    with pytest.raises(JsonError, match=r"population\.json: damaged: turns\[0\]\.win = 2"):
        runs.resume(run, "--train.total-timesteps=20000")


@pytest.mark.parametrize("path", ["../other/model_000002.pt", "/etc/passwd", "a/../../b.pt"])
def test_an_exploiter_outside_the_run_is_refused(tmp_path, path):
    turn = Turn("anew", 1, 1, "model_000001.pt", 1, 0.5, 0.25, 0.25, path)
    write_turns(tmp_path, [turn])
    message = rf"population\.json: damaged: turns\[0\]\.path = '{path}': must be a path within"
    with pytest.raises(JsonError, match=message):
        read_turns(tmp_path)
