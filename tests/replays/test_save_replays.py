"""Replays of evaluation and training: every fight can be replayed, instructive ones are kept."""

import contextlib
import json
import os
import shutil
from math import hypot
from types import SimpleNamespace

import numpy as np
import pytest
import runs
from policies import Constant, random_policy
from quick_fights import SHORT
from team_fights import EACH_SIZE, sized

from midrange_puffer.commands import cli
from midrange_puffer.contest.evaluation import fight
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.files import WriteError
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.game.paths import FighterPath, MissilePath
from midrange_puffer.game.records import outcome_words, outcomes
from midrange_puffer.replays.recorder import (
    CLOSEST,
    FIRST,
    LONGEST,
    LOST,
    FightRecorder,
    nearest_miss,
    save_instructive,
)
from midrange_puffer.replays.replay import Replay

pytestmark = pytest.mark.slow

GAME = resolve(SHORT)
FARTHER = resolve({"time_limit": 90, "start_range_min": 15_000, "start_range_max": 25_000})
MIX = "shooter:1,evader:1,ace:2"
SEATS = ("red", "blue")


def watched(fights, num_envs: int, game):
    """Plays fights with seed 4; returns their recorders and records."""
    recorders = [
        FightRecorder(names, num_envs, 4, game, {}) for names in (("p", None), (None, "p"))
    ]
    records = play(
        fights, num_envs, 4, watch=lambda n, *rest: recorders[n](0, *rest), parameters=game
    )
    return recorders, records


@pytest.mark.parametrize("memory", [(), ("Recurrent", {"input_size": 16, "hidden_size": 16})])
def test_every_engagement_of_a_batch_is_replayed_alone_as_it_was(memory):
    """With every drawn opponent; recording changes nothing."""
    fights = [Fight(random_policy(*memory), MIX), Fight("crank", random_policy(seed=5))]
    recorders, records = watched(fights, 30, GAME)
    np.testing.assert_array_equal(records, play(fights, 30, 4, parameters=GAME))
    drawn = set()
    for recorder, fought in zip(recorders, records, strict=True):
        for record in fought:
            replay = Replay.from_bytes(recorder.replay(record, why="so").to_bytes())
            *_, sim = replay.play()
            assert replay.decisions == record["decisions"]
            assert sim.outcome[0] == record["outcome"]
            assert sim.truncated[0] == record["truncated"]
            owners = [missile.owner for missile in replay.paths().missiles]
            assert np.bincount(owners, minlength=2).tolist() == record["shots"].tolist()
            assert outcome_words(sim) == replay.outcome
            assert replay.meta == {"why": "so"}
            drawn.add((replay.pilots, replay.names))
    assert drawn == {
        *((("agent", name), ("p", name)) for name in ("shooter", "evader", "ace")),
        (("crank", "agent"), ("crank", "p")),
    }


@EACH_SIZE
def test_engagements_of_teams_are_replayed_alone(sizes):
    """Policies and drawn pilots, in teams of several sizes."""
    game = resolve(sized(*sizes, time_limit=60), teams=True)
    policy = random_policy(observation="team", sizes=sizes)
    watchers, records = watched([Fight(policy, "shooter:1,ace:1"), Fight("crank", policy)], 6, game)
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


def test_a_fight_that_went_another_way_is_noticed():
    """The core seems to fly an engagement differently alone and in a batch."""
    watcher = FightRecorder(("p", None), 4, 4, GAME, {})
    [records] = play([Fight(random_policy(), "ace")], 4, 4, watch=watcher, parameters=GAME)
    other = FightRecorder(("p", None), 4, 5, GAME, {})
    other.__dict__.update({**watcher.__dict__, "_seed": 5})
    with pytest.raises(RuntimeError, match="engagement 2 of seed 5 goes another way alone"):
        other.replay(records[2])


# Which are kept


def fought(policy, opponent: str, num_envs: int, parameters):
    """Returns the recorders and records of a policy as red and as blue."""
    both = [
        FightRecorder(names, num_envs, 7, parameters, {"model": "x"})
        for names in (("p", None), (None, "p"))
    ]
    records = fight(
        policy, opponent, 2 * num_envs, 7, False, lambda _: None, both, parameters=parameters
    )
    return both, records


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Three replays of each kind, of 40 engagements of a policy that turns and fires."""
    both, records = fought(Constant(rudder=3), "turn_back:2,crank:1", 20, FARTHER)
    written = []
    folder = tmp_path_factory.mktemp("saved")
    paths = save_instructive(both, records, 3, folder, "a run_x", written.append)
    assert sum(written) == len(paths)
    return both, records, {path.name: Replay.read(path) for path in paths}


def of_kind(saved, kind: str) -> list[Replay]:
    return [replay for replay in saved[2].values() if replay.meta["kept"] == kind]


@pytest.fixture(scope="module")
def everything(saved) -> dict[tuple[int, str], tuple[np.void, Replay, bool]]:
    """Record, replay and True if the policy lost, by (engagement, seat)."""
    both, records, _ = saved
    return {
        (int(record["env"]), SEATS[seat]): (record, both[seat].replay(record), bool(lost))
        for seat in (0, 1)
        for record, lost in zip(records[seat], outcomes(records[seat], seat)["loss"], strict=True)
    }


def place(replay: Replay) -> tuple[int, str]:
    return replay.engagement, replay.meta["seat"]


def test_files_say_what_they_hold(saved):
    _, _, replays = saved
    assert len(replays) == 12
    for name, replay in replays.items():
        enemy = replay.names[1 - SEATS.index(replay.meta["seat"])]
        kept, (env, seat) = replay.meta["kept"], place(replay)
        assert name == f"a-run_x_vs-{enemy}_{kept}_env{env:04d}_{seat}.replay"
        assert enemy in ("turn_back", "crank")
        assert replay.meta["model"] == "x"
        replay.verify()
    assert len({place(replay) for replay in replays.values()}) == 12


def test_the_lost_ones_were_lost(saved, everything):
    lost = [where for where, (_, _, lost) in everything.items() if lost]
    first = sorted(lost, key=lambda where: (where[0], SEATS.index(where[1])))[:3]
    assert sorted(map(place, of_kind(saved, LOST))) == sorted(first)


def test_the_closest_were_missed_nearest_and_survived(saved, everything):
    misses = {}
    for (env, seat), (record, replay, lost) in everything.items():
        miss = nearest_miss(replay.paths(), SEATS.index(seat))
        if not lost and not record["mutual_kill"] and miss is not None:
            misses[env, seat] = miss
    assert len(misses) > 6
    nearest = sorted(misses, key=misses.get)[:3]
    closest = of_kind(saved, CLOSEST)
    assert sorted(map(place, closest)) == sorted(nearest)
    assert [replay.meta["nearest_miss"] for replay in closest] == [misses[at] for at in nearest]
    assert min(misses.values()) > FARTHER["missile_hit_radius"] * 0.9


def test_the_longest_are_the_longest_of_the_rest(saved, everything):
    taken = {place(replay) for kind in (LOST, CLOSEST) for replay in of_kind(saved, kind)}
    lengths = [record["decisions"] for at, (record, *_) in everything.items() if at not in taken]
    longest = [replay.decisions for replay in of_kind(saved, LONGEST)]
    assert longest == sorted(lengths)[:-4:-1]


def test_the_first_are_the_first_of_the_rest_in_turn(saved):
    _, _, replays = saved
    taken = {place(one) for one in replays.values() if one.meta["kept"] != FIRST}
    in_turn = [(env, seat) for env in range(20) for seat in SEATS]
    assert [place(replay) for replay in of_kind(saved, FIRST)] == [
        at for at in in_turn if at not in taken
    ][:3]


def test_no_miss_is_the_nearest_without_shots(tmp_path):
    both, records = fought(Constant(fire=0), "straight", 3, GAME)
    kept = [Replay.read(path).meta for path in save_instructive(both, records, 9, tmp_path, "x")]
    assert [meta["kept"] for meta in kept] == [LONGEST] * 6  # all of them
    assert {meta["nearest_miss"] for meta in kept} == {None}


def test_the_nearest_miss_is_where_two_straight_lines_pass():
    """Only missiles that fly at this fighter count; distances between two entries count as well."""
    shot = MissilePath(times=[0, 1, 2], x=[0, 1000, 2000], y=[0, 0, 0], targets=[1] * 3)
    early = MissilePath(times=[0], x=[1500], y=[900], targets=[1])
    other = MissilePath(times=[0], x=[0], y=[0], targets=[0])
    target = FighterPath(times=[0, 2], x=[1500, 1500], y=[500, -500], number=1, side=1)
    shooter = FighterPath(times=[0, 2], x=[0, 0], y=[0, 0])
    paths = SimpleNamespace(fighters=[shooter, target], missiles=[early, shot, other])
    # Seen from the target it starts from (-1500, -500) and flies by (1000, 500) a second.
    passed = abs(-1500 * 500 + 500 * 1000) / hypot(1000, 500)
    assert nearest_miss(paths, 1) == pytest.approx(passed)
    paths.missiles = [other]
    assert nearest_miss(paths, 1) is None


# The command


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run of 8 updates, each with a checkpoint."""
    folder = tmp_path_factory.mktemp("trained")
    assert runs.train(folder, "--train.checkpoint-interval=1") == 0
    return folder / "run"


def evaluate(run, *options: str) -> dict:
    report = run.parent / "report.json"
    words = ["--load-model-path", str(run / "model_000008.pt"), "--json", str(report)]
    words += ["--episodes=4", "--env.start-range-max=4000", "--env.time-limit=15"]
    assert cli.run("eval", [*words, *options]) == 0
    return json.loads(report.read_text())


def test_eval_keeps_replays_of_each_opponent(run, tmp_path, capsys):
    options = ("--opponent=all", "--seed=3")
    plain = evaluate(run, *options)
    folder = tmp_path / "some" / "where"
    assert evaluate(run, *options, "--save-replays=1", f"--replay-dir={folder}") == plain
    paths = sorted(folder.iterdir())
    printed = capsys.readouterr().out
    assert f"{len(paths)} replays in {folder}, each flown again from its file" in printed
    met = set()
    for path in paths:
        replay = Replay.read(path)
        replay.verify()
        kept = f"{replay.meta['opponent']}_{replay.meta['kept']}_env"
        assert path.name.startswith(f"run_model_000008_vs-{kept}")
        assert replay.seed == 3
        assert replay.parameters == plain["parameters"]
        seat = SEATS.index(replay.meta["seat"])
        assert replay.names[seat] == "model_000008"
        assert replay.pilots[1 - seat] == replay.meta["opponent"]
        met.add(replay.meta["opponent"])
    assert met == set(PILOTS)


def test_eval_keeps_replays_of_two_policies(run, tmp_path):
    """Files of other opponents and of models of the same name are kept."""
    other = str(run / "model_000000.pt")
    evaluate(run, "--opponent", other, "--save-replays=1", "--replay-dir", str(tmp_path))
    evaluate(run, "--opponent=self", "--save-replays=1", "--replay-dir", str(tmp_path))
    names = {Replay.read(path).names for path in tmp_path.iterdir()}
    own, its = "model_000008", "model_000000"
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    namesake = tmp_path.parent / "another run" / f"{own}.pt"
    namesake.parent.mkdir()
    shutil.copy(other, namesake)
    evaluate(namesake.parent, "--opponent=self", "--save-replays=1", "--replay-dir", str(tmp_path))
    assert {path: path.read_bytes() for path in before} == before
    assert names <= {(own, its), (its, own), (own, own)}
    assert (own, own) in names
    assert any("vs-model_000000_" in path.name for path in before)
    assert any(path.name.startswith(f"another-run_{own}_vs-") for path in tmp_path.iterdir())


def test_a_folder_that_cannot_be_is_named_before_the_fights(run, tmp_path, monkeypatch):
    monkeypatch.setattr("midrange_puffer.contest.evaluation.play", None)
    (tmp_path / "file").write_text("")
    for folder in ("file", "file/below"):
        with pytest.raises(WriteError, match="cannot make the folder"):
            evaluate(run, "--save-replays=1", "--replay-dir", str(tmp_path / folder))
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)
    with pytest.raises(WriteError, match=f"the folder {tmp_path} cannot be written to"):
        evaluate(run, "--save-replays=1", "--replay-dir", str(tmp_path))


@pytest.mark.parametrize("mishap", [WriteError("the disk is full"), RuntimeError("another way")])
def test_no_evaluation_is_lost_for_want_of_a_replay(run, tmp_path, monkeypatch, capsys, mishap):
    """The replays of the other opponents are kept as well."""
    plain = evaluate(run, "--opponent=all")
    printed = capsys.readouterr().out
    (run.parent / "report.json").unlink()
    written = Replay.write

    def write_unless_first(replay: Replay, path) -> None:
        if replay.meta["opponent"] == PILOTS[0]:
            raise mishap
        written(replay, path)

    monkeypatch.setattr(Replay, "write", write_unless_first)
    with pytest.raises(type(mishap), match=str(mishap)):
        evaluate(run, "--opponent=all", "--save-replays=1", f"--replay-dir={tmp_path}")
    assert json.loads((run.parent / "report.json").read_text()) == plain
    assert capsys.readouterr().out == printed
    met = {Replay.read(path).meta["opponent"] for path in tmp_path.iterdir()}
    assert met == {*PILOTS[1:]}


def test_eval_shows_how_far_it_is_with_the_replays(run, tmp_path, monkeypatch):
    told = {}

    @contextlib.contextmanager
    def note_progress(what, total):
        steps = told.setdefault(what, (total, []))[1]
        yield steps.append

    monkeypatch.setattr("midrange_puffer.commands.eval.progress_bar", note_progress)
    evaluate(run, "--opponent=weave", "--save-replays=1", f"--replay-dir={tmp_path}")
    total, steps = told["weave: replays"]
    assert sum(steps) == len(list(tmp_path.iterdir())) > 1
    assert total == 4


TEAM = ("--env.red-size=2", "--env.blue-size=3", "--env.start-spacing-min=300",
        "--env.start-spacing-max=900")  # fmt: skip


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
