"""Replays of teams: bit for bit, by eval and training, and refused where they do not fit."""

import numpy as np
import pytest
import runs
from policies import random_policy
from replays import forged, with_parameters
from team_fights import EACH_SIZE, record, sized

from midrange_puffer.commands import cli
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import resolve
from midrange_puffer.game.paths import outcome_words
from midrange_puffer.policies.contestants import load_contestant
from midrange_puffer.replays.recorder import FightRecorder, nearest_miss
from midrange_puffer.replays.replay import Replay, ReplayError
from midrange_puffer.replays.session import HUMAN, Session

WINGMEN = (["agent", "evader", "evader"], "ace")


@EACH_SIZE
def test_a_fight_is_flown_again_bit_for_bit(sizes):
    replay, hashes = record(sized(*sizes))
    again = Replay.from_bytes(replay.to_bytes())
    assert [sim.fight_hash() for sim in again.play()] == hashes
    assert again.controls.shape == (len(hashes), sum(sizes), 3)
    assert (again.controls == replay.controls).all()
    assert again.pilots == ("ace",) * sizes[0] + ("evader",) * sizes[1]
    assert again.names == ("ace", "evader")


def test_an_agent_and_its_wingmen_are_one_pilot_each():
    replay, hashes = record(sized(3, 2), WINGMEN, seed=2)
    again = Replay.from_bytes(replay.to_bytes())
    assert [sim.fight_hash() for sim in again.play()] == hashes
    assert again.pilots == ("agent", "evader", "evader", "ace", "ace")
    assert again.names == ("agent, evader", "ace")
    named, _ = record(sized(3, 2), WINGMEN, seed=2, names=("Ann", "Bob"))
    assert Replay.from_bytes(named.to_bytes()).names == ("Ann", "Bob")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pilots": ["ace"] * 3}, "3 pilots, its parameters 2 fighters of red and 2 of blue"),
        ({"pilots": ["ace"] * 16}, "16 pilots, its parameters 2 fighters"),
        ({"names": ["ace"] * 4}, "4 names, not those of two sides"),
        ({"pilots": ["ace", "ace", "evader", 7]}, "pilots that are not texts"),
        ({"decisions": 3}, "its controls are not those of 3 decisions of 4 fighters"),
    ],
)
def test_what_does_not_fit_is_named(change, words):
    data = record(sized(2, 2, time_limit=20))[0].to_bytes()
    with pytest.raises(ReplayError, match=words):
        Replay.from_bytes(forged(data, **change))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (3, "4 pilots, its parameters 3 fighters of red and 2 of blue"),
        (1, "4 pilots, its parameters 1 fighters of red and 2 of blue"),
        (9, "red_size = 9"),
        ("two", "red_size = 'two'"),
    ],
)
def test_sizes_that_do_not_fit_the_controls_are_named(size, words):
    data = record(sized(2, 2, time_limit=20))[0].to_bytes()
    other = with_parameters(data, lambda parameters: parameters.update(red_size=size))
    with pytest.raises(ReplayError, match=words):
        Replay.from_bytes(other)


def test_controls_of_more_fighters_are_none_of_fewer():
    data = record(sized(2, 2, time_limit=20))[0].to_bytes()
    other = with_parameters(data, lambda parameters: parameters.update(red_size=1))
    with pytest.raises(ReplayError, match="decisions of 3 fighters"):
        Replay.from_bytes(forged(other, pilots=["ace", "evader", "evader"]))


@EACH_SIZE
def test_engagements_of_a_batch_are_replayed_alone(sizes):
    """Policies and pilots that were drawn, in teams of any size."""
    game = resolve(sized(*sizes, time_limit=60), teams=True)
    policy = random_policy(observation="team", sizes=sizes)
    crews = [Fight(policy, "shooter:1,ace:1"), Fight("crank", policy)]
    watchers = [FightRecorder(names, 6, 4, game, {}) for names in (("p", None), (None, "p"))]
    records = play(
        crews, 6, 4, watch=lambda index, *rest: watchers[index](0, *rest), parameters=game
    )
    for watcher, fought in zip(watchers, records, strict=True):
        for row in fought:
            replay = watcher.replay(row)
            *_, sim = replay.play()
            assert sim.outcome[0] == row["outcome"]
            paths = replay.paths()
            owners = [paths.fighters[missile.owner].side for missile in paths.missiles]
            assert np.bincount(owners, minlength=2).tolist() == row["shots"].tolist()
            for side in range(2):
                seen, miss = watcher.nearness[row["env"], side], nearest_miss(paths, side)
                assert (seen > 0) <= (miss is not None)


def test_a_fight_by_hand_is_taken_back_and_replayed():
    """With wingmen, and a policy on the other side."""
    policy = random_policy(observation="team", sizes=(2, 3), seed=1)
    session = Session(([HUMAN, "evader"], policy), ("me", "it"), seed=5, **sized(2, 3))
    assert session.humans == [0]
    hashes = []
    for decision in range(80):
        session.steer(0, decision % 7 / 7)
        if decision % 30 == 10:
            session.fire(0)
        session.step()
        hashes.append(session.sim.state_hash())
    assert session.sim.fighters["ammo"][0, 0] < 6
    session.rewind(45)
    assert session.sim.state_hash() == hashes[34]
    assert session.paths.time == pytest.approx(3.5)
    while len(session.recorder) < 60:
        decision = len(session.recorder)
        session.steer(0, decision % 7 / 7)
        if decision % 30 == 10:
            session.fire(0)
        session.step()
    assert session.sim.state_hash() == hashes[59]
    replay = Replay.from_bytes(session.replay().to_bytes())
    replay.verify()
    assert replay.pilots == ("agent",) * 5
    assert replay.names == ("me", "it")


def test_a_session_flies_the_fight_that_is_measured():
    """As `play` does, with the same draws."""
    policy = random_policy(observation="team", sizes=(3, 3))
    game = sized(3, 3, time_limit=60)
    session = Session((policy, "ace"), seed=6, **game)
    while not session.over:
        session.step()
    [[row]] = play([Fight(policy, "ace")], 1, 6, parameters=resolve(game, teams=True))
    assert (session.sim.outcome[0], len(session.recorder)) == (row["outcome"], row["decisions"])
    fired = session.sim.core.read("fighter")["shots"][0]
    assert [fired[:3].sum(), fired[3:].sum()] == row["shots"].tolist()


def test_who_does_not_fit_a_session_is_named():
    with pytest.raises(UsageError, match="red: 3 contestants; red_size is 2"):
        Session((["ace"] * 3, "ace"), **sized(2, 2))
    with pytest.raises(UsageError, match="blue = ace,trained: "):
        Session(("ace", ["ace", load_contestant("ace:1,trained:1")]), **sized(2, 2))


TEAM = ("--env.red-size=2", "--env.blue-size=3", "--env.start-spacing-min=300",
        "--env.start-spacing-max=900")  # fmt: skip


@pytest.mark.slow
def test_training_and_eval_keep_replays_of_teams(tmp_path, capsys):
    assert runs.train(tmp_path, *TEAM, "--train.replay-interval=2") == 0
    kept = [Replay.read(path) for path in (tmp_path / "run" / "replays").iterdir()]
    assert len(kept) >= 2
    model = str(next((tmp_path / "run").glob("model_*.pt")))
    words = ["--load-model-path", model, "--episodes=8", "--save-replays=1", *TEAM]
    folder = tmp_path / "kept"
    options = ["--opponent=shooter", "--env.time-limit=60", "--env.start-range-max=15000"]
    options += ["--env.start-range-min=10000", f"--replay-dir={folder}"]
    assert cli.run("eval", [*words, *options]) == 0
    assert "each flown again from its file: all bit-exact" in capsys.readouterr().out
    for replay in (*kept, *map(Replay.read, folder.iterdir())):
        *_, sim = replay.play()
        assert replay.outcome == outcome_words(sim)
        assert replay.controls.shape[1] == 5
