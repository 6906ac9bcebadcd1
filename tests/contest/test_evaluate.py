"""Evaluation: the figures of policies with known results, and the command."""

import json

import numpy as np
import pytest
import runs
import torch
from policies import Constant, random_policy
from torch import nn

from midrange_puffer import FEATURES, Midrange, Simulation
from midrange_puffer.commands import cli
from midrange_puffer.commands import eval as eval_command
from midrange_puffer.config.schema import game_parameters
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.contest.ratings import score_interval
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.game.actions import ACTION_MODES
from midrange_puffer.game.parameters import PARAMETERS, PILOTS
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.policies.player import Player, player_seed
from midrange_puffer.train import machine

# Nose to nose at 5 km, one missile each within the time it needs: whoever is shot at dies.
DUEL = {
    "start_range_min": 5000,
    "start_range_max": 5000,
    "start_off_boresight_max_deg": 0,
    "launch_interval": 600,
    "time_limit": 60,
}
MEMORY = ("Recurrent", {"input_size": 16, "hidden_size": 16})
SMALL = {"time_limit": 60, "start_range_min": 15_000, "start_range_max": 25_000}


@pytest.fixture
def policy():
    return random_policy()


@pytest.fixture
def recurrent():
    return random_policy(*MEMORY)


WIN, DRAW, LOSS = (
    {"win": score == 1, "draw": score == 0.5, "loss": score == 0, "score": score}
    for score in (1, 0.5, 0)
)
UNHARMED = {"shots_against": 0, "hits_against": 0, "mutual_kill": 0, "truncated": 0}
NO_SHOT = {"shots": 0} | dict.fromkeys(
    ("hit_rate", "launch_range", "in_nez_share", "between_share", "wasted_share")
)


@pytest.mark.parametrize(
    ("fire", "opponent", "expected", "length"),
    [
        # Without drag, closing at 800 m/s and gaining 147 m/s^2, the missile needs 4.3 s; with
        # drag, and 500 m/s at first, not twice as long.
        (1, "straight", WIN | UNHARMED | {"shots": 1, "hits": 1, "hit_rate": 1, "in_nez_share": 1,
         "wasted_share": 0, "launch_range": pytest.approx(5000, rel=1e-5)}, (4, 9)),
        (0, "shooter", LOSS | NO_SHOT | {"shots_against": 1, "hits_against": 1}, (4, 9)),
        (0, "weave", DRAW | {"truncated": 1}, (59.99, 60.01)),
        (1, Constant(), DRAW | {"mutual_kill": 1}, (4, 9)),
    ],
)  # fmt: skip
def test_duels_end_as_the_shots_say(fire, opponent, expected, length):
    """A shot always hits; fighters without shots draw by time."""
    result = evaluate(Constant(fire=fire), opponent, 40, **DUEL)
    assert {name: result[name] for name in expected} == expected
    assert length[0] < result["length"] < length[1]


@pytest.mark.parametrize("pilot", PILOTS)
def test_counts_are_those_of_the_same_fights_in_a_simulation(pilot):
    """Every start once in each seat, to its end, however long the others take."""
    half = 24
    counts = dict.fromkeys(("win", "draw", "loss"), 0)
    decisions = 0
    for seat in (0, 1):
        contestants = ["agent", pilot] if seat == 0 else [pilot, "agent"]
        sim = Simulation(half, 5, *contestants, **SMALL)
        straight_and_firing = np.tile(np.float32([0, 1, 1]), (half, 2, 1))
        while (sim.outcome == 0).any():
            decisions += int((sim.outcome == 0).sum())
            sim.step(straight_and_firing)
        counts["win"] += int((sim.outcome == 1 + seat).sum())
        counts["loss"] += int((sim.outcome == 2 - seat).sum())
        counts["draw"] += int((sim.outcome == 3).sum())
    result = evaluate(Constant(), pilot, 2 * half, seed=5, **SMALL)
    assert {name: result[name] * 2 * half for name in counts} == pytest.approx(counts)
    assert result["length"] == pytest.approx(decisions * 0.5 / (2 * half))


def test_progress_counts_every_engagement_once(policy):
    seen = []
    evaluate(policy, "shooter:1,weave:1", 30, progress=seen.append, **SMALL)
    assert sum(seen) == 30


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("kind", ["policy", "recurrent"])
def test_against_itself_a_policy_scores_exactly_a_half(kind, greedy, request):
    """Seats swapped, starts and draws equal: each win in one half is a loss in the other."""
    who = request.getfixturevalue(kind)
    result = evaluate(who, who, 60, greedy=greedy, **SMALL)
    assert result["score"] == 0.5
    assert result["win"] == result["loss"]
    assert result["shots"] == result["shots_against"] > 0


def test_intervals_know_that_a_start_is_fought_twice():
    """If the seat decides, 0.5 is certain, and draws come in pairs."""
    result = evaluate(Constant(), Constant(), 400, **{**DUEL, "start_off_boresight_max_deg": 90})
    wins, draws, losses = (400 * result[name] for name in ("win", "draw", "loss"))
    assert wins == losses > 0 < draws
    score = np.diff(score_interval(wins, draws, losses, 0.0))
    assert np.diff(result["score_ci95"]) < 0.4 * score
    draw = np.diff(score_interval(draws, 0, 400 - draws, 0.0))
    assert np.diff(result["draw_ci95"]) == pytest.approx(np.sqrt(2) * draw, rel=0.02)


def test_two_policies_score_one_together(policy):
    close = {**DUEL, "start_off_boresight_max_deg": 90}
    against = evaluate(policy, Constant(), 60, **close)
    back = evaluate(Constant(), policy, 60, **close)
    assert 0 < against["loss"] < 1
    assert (against["win"], against["draw"], against["loss"]) == (
        back["loss"], back["draw"], back["win"]
    )  # fmt: skip
    assert against["shots"] == back["shots_against"]


def test_equal_seeds_give_equal_results_and_others_do_not(policy):
    first = evaluate(policy, "evader", 40, seed=1, **SMALL)
    assert evaluate(policy, "evader", 40, seed=1, **SMALL) == first
    assert evaluate(policy, "evader", 40, seed=2, **SMALL) != first


def test_seats_are_alike(policy):
    """A policy scores the same as red and as blue, within four sigma."""
    scores = []
    for red in (True, False):
        seat = "red" if red else "blue"
        env = Midrange(2000, "shooter", seat, action_mode="continuous", seed=8, **SMALL)
        env.reset()
        player = Player(policy, 2000, player_seed(8, 0 if red else 1))
        everyone, done = np.arange(2000), {}
        while len(done) < 2000:
            for record in env.step_records(player.act(env.observations, everyone)):
                done.setdefault(int(record["env"]), record["outcome"] == (1 if red else 2))
        scores.append(np.mean(list(done.values())))
    sigma = np.sqrt(np.mean(scores) * (1 - np.mean(scores)) / 1000)
    assert 0 < np.mean(scores) < 1
    assert abs(scores[0] - scores[1]) < 4 * sigma


@pytest.mark.parametrize("action_mode", ACTION_MODES)
def test_a_recurrent_policy_remembers_each_engagement_alone(action_mode):
    """Acting for some engagements at a time gives what acting for each alone gives."""
    policy = random_policy(*MEMORY, action_mode=action_mode)
    seen = np.random.default_rng(0).uniform(-1, 1, (3, 4, len(FEATURES))).astype(np.float32)
    together = Player(policy, 4, 0, greedy=True)
    alone = [Player(policy, 1, 0, greedy=True) for _ in range(4)]
    for step, envs in enumerate(([0, 1, 2, 3], [1, 3], [0, 3])):
        flown = together.act(seen[step, envs], np.array(envs))
        for env, row in zip(envs, flown, strict=True):
            own = alone[env].act(seen[step, [env]], np.array([0]))[0]
            np.testing.assert_allclose(own, row, atol=1e-6 * (action_mode == "continuous"))
    fresh = Player(policy, 4, 0, greedy=True)
    assert (fresh._memory["lstm_h"] == 0).all()
    assert (together._memory["lstm_h"] != 0).any(dim=1).all()
    forgetful = fresh.act(seen[2, [0]], np.array([0]))
    assert action_mode == "discrete" or not np.allclose(forgetful, flown[0], atol=1e-3)


def test_drawn_actions_follow_the_policy():
    """Two levels at odds of three to one are drawn so, within four sigma."""

    class Odds(nn.Module):
        features, memory_size, is_continuous, action_size = 1, 0, False, 3

        def forward_eval(self, observations, state):
            row = torch.tensor([[0.0, np.log(3.0)]]).repeat(len(observations), 1)
            return [row, row, row], None

    count = 20_000
    drawn = Player(Odds(), count, 1).act(np.zeros((count, 1), np.float32), np.arange(count))
    actions = drawn > drawn.min(axis=0)
    assert actions.mean(axis=0) == pytest.approx(0.75, abs=4 * np.sqrt(0.75 * 0.25 / count))
    assert np.corrcoef(actions.T)[np.triu_indices(3, 1)] == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize("episodes", [0, 1, 7])
def test_episodes_are_divided_between_the_seats(episodes):
    with pytest.raises(ValueError, match=f"episodes = {episodes}: must be an even number"):
        evaluate(Constant(), "straight", episodes)


# The command.


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns the folder of a tiny run against other pilots than those of the evaluation."""
    folder = tmp_path_factory.mktemp("trained")
    pilots = ["--env.evader-cold-time-min", "3", "--env.evader-cold-time-max", "4"]
    assert runs.train(folder, *pilots, "--env.reward-threat", "0", "--env.ammunition", "3") == 0
    return folder


def run_eval(folder, *options: str) -> dict:
    report = folder / "report.json"
    words = ["--train.data-dir", str(folder), "--json", str(report), "--episodes", "20"]
    assert cli.run("eval", ["--load-model-path", "latest", *words, *options]) == 0
    return json.loads(report.read_text())


def test_eval_reports_every_pilot_and_the_mean(trained, capsys):
    report = run_eval(trained)
    printed = capsys.readouterr().out
    assert report["model"] == str(trained / "run" / "model_000008.pt")
    assert (report["episodes"], report["seed"], report["greedy"]) == (20, 0, False)
    assert tuple(report["opponents"]) == PILOTS
    for result in report["opponents"].values():
        assert result["win"] + result["draw"] + result["loss"] == pytest.approx(1)
        assert result["score"] == pytest.approx(result["win"] + result["draw"] / 2)
        for outcome in ("win", "draw", "loss", "score"):
            low, high = result[f"{outcome}_ci95"]
            assert 0 <= low <= result[outcome] <= high <= 1
        for key in ("shots", "shots_against", "hits", "hits_against", "length"):
            assert result[key] >= 0
        assert {"hit_rate", "launch_range", "mutual_kill", "truncated"} < set(result)
    scores = [result["score"] for result in report["opponents"].values()]
    assert report["mean"]["score"] == pytest.approx(np.mean(scores))
    rows = [line.split() for line in printed.splitlines() if line[:1].strip()]
    assert rows[-1][0] == "mean"
    assert rows[-1][4] == f"{np.mean(scores):.3f}"
    assert [row[0] for row in rows[-len(PILOTS) - 1 : -1]] == [*PILOTS]


def test_eval_repeats_itself(trained):
    assert run_eval(trained, "--seed", "9") == run_eval(trained, "--seed=9")


def test_eval_with_more_threads_is_the_same(trained, monkeypatch):
    monkeypatch.setattr(machine, "physical_cores", lambda: 3)
    monkeypatch.setattr(machine, "usable_cores", lambda: 3)
    first, *others = (run_eval(trained, f"--threads={count}") for count in (1, 3, "auto"))
    assert others == [first, first]


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (4, "4: there are 3 physical cores; use auto or at most 3"),
        (0, "0: must be auto or an integer from 1 to 1024"),
        ("many", "many: must be auto or an integer from 1 to 1024"),
    ],
)
def test_threads_that_cannot_be_are_refused(trained, monkeypatch, count, reason):
    monkeypatch.setattr(machine, "physical_cores", lambda: 3)
    with pytest.raises(UsageError, match=f"--threads: {reason}"):
        eval_command.read(["--train.data-dir", str(trained), f"--threads={count}"])


def test_the_yardstick_is_the_games_and_not_the_trainings(trained):
    """The game as trained; pilots and rewards as in the table, unless given."""
    parameters = run_eval(trained, "--opponent", "weave")["parameters"]
    assert (parameters["time_limit"], parameters["ammunition"]) == (10, 3)
    for name in ("evader_cold_time_min", "evader_cold_time_max", "reward_threat"):
        assert parameters[name] == PARAMETERS[name].default
    given = run_eval(
        trained, "--opponent", "weave", "--env.evader_cold_time_min", "6", "--env.time-limit=8"
    )["parameters"]
    assert (given["evader_cold_time_min"], given["time_limit"], given["ammunition"]) == (6, 8, 3)


def test_the_game_is_every_parameter_but_those_of_training():
    everything = {name: row.default for name, row in PARAMETERS.items()}
    kept = game_parameters({**everything, "num_envs": 8, "opponent": "self", "seat": "red"})
    left_out = {PARAMETERS[name].group for name in set(PARAMETERS) - set(kept)}
    assert left_out == {"reward", "pilot"}
    assert set(kept) < set(PARAMETERS)


def test_models_may_be_named(trained):
    path = trained / "run" / "model_000000.pt"
    policy, _ = load_policy(path)
    by_name = evaluate(str(path), "shooter", 20, **SMALL)
    assert (
        by_name
        == evaluate(path, "shooter", 20, **SMALL)
        == evaluate(policy, "shooter", 20, **SMALL)
    )
    assert evaluate(str(path), str(path), 20, **SMALL)["score"] == 0.5
    shot = evaluate("shooter", path, 20, **SMALL)
    assert (shot["shots"], shot["shots_against"]) == (by_name["shots_against"], by_name["shots"])


@pytest.mark.parametrize(
    ("policy", "opponent", "error", "message"),
    [
        ((Constant(), {}), "weave", TypeError, r"policy = \(Constant.*policy, about = load_po"),
        (Constant(), 3, TypeError, "opponent = 3: must be a pilot, a model"),
        (nn.Linear(3, 3), "weave", TypeError, "policy = Linear: .* this module has no forward_ev"),
        ("evadr", "weave", ValueError, "^policy = 'evadr': .*did you mean 'evader'.*or champion"),
        ("weave", "trained:x", UsageError, "trained:x: no such model"),
        ("nowhere.pt", "weave", CheckpointError, "nowhere.pt: no such file"),
    ],
)
def test_an_error_says_why_a_contestant_cannot_fight(policy, opponent, error, message):
    with pytest.raises(error, match=message):
        evaluate(policy, opponent, 20)


def test_eval_against_another_model_and_against_itself(trained):
    model = str(trained / "run" / "model_000000.pt")
    assert list(run_eval(trained, "--opponent", model)["opponents"]) == [model]
    assert run_eval(trained, "--opponent", "self")["opponents"]["self"]["score"] == 0.5


def test_a_run_stands_for_its_newest_model(trained):
    newest = max((trained / "run").glob("model_*.pt"))
    for name in (str(trained / "run"), "run"):
        report = run_eval(trained, "--opponent", "weave", "--load-model-path", name)
        assert report["model"] == str(newest)
    with pytest.raises(UserError, match=r"runn: no such run folder, .* newest runs are run"):
        run_eval(trained, "--load-model-path", "runn")


def test_a_long_name_stays_in_one_line(trained, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    model = str(trained / "run" / "model_000000.pt")
    run_eval(trained, "--opponent", model)
    out = capsys.readouterr().out
    assert f"20 engagements with {model}" in out
    assert any(line.startswith("model_000000 ") for line in out.splitlines())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--opponent", "evadr"], "'evadr' is none of .*did you mean 'evader'"),
        (["--opponent", "shooter:0"], "weight of shooter"),
        (["--opponent", "self:1,shooter:1"], "'self' is none of straight, weave"),
        (["--opponent", "nowhere.pt"], "nowhere.pt: no such file"),
        (["--episode", "4"], "--episode: no such option; did you mean '--episodes'"),
        (["--episodes", "5"], "--episodes: 5: must be an even number"),
        (["--episodes", "many"], "--episodes: many: must be an integer from 2"),
        (["--seed", "-1"], "--seed: -1: must be an integer from 0"),
        (["--env.ammunitoin", "2"], "did you mean '--env.ammunition'"),
        (["--env.ammunition", "7"], "--env.ammunition: 7: must be an integer from 0 to 6"),
        (["--env.start-range-min", "9000"], "start_range_min = 9000 is above"),
        (["stray"], "stray: no such option"),
        (["--render"], "--render measures nothing: .*--json"),  # which all of these have
    ],
)
def test_eval_names_what_is_wrong(trained, options, message):
    with pytest.raises(UsageError, match=message):
        run_eval(trained, *options)


def test_eval_cannot_show_fights_and_keep_them():
    """The error comes before a model is looked for."""
    with pytest.raises(UsageError, match="--render measures nothing: leave out --save-replays"):
        cli.run("eval", ["--render", "--save-replays=2", "--load-model-path=none"])


def test_eval_refuses_what_is_not_a_model(tmp_path):
    with pytest.raises(model_file.CheckpointError, match="train first"):
        run_eval(tmp_path)
    (tmp_path / "model_1.pt").write_bytes(b"no model")
    with pytest.raises(model_file.CheckpointError, match="damaged, or not a checkpoint"):
        run_eval(tmp_path, "--load-model-path", str(tmp_path / "model_1.pt"))
