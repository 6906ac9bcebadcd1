"""Commanders: players, matches, files and training."""

import json

import numpy as np
import onnx
import pytest
import runs
import torch

from midrange_puffer import Midrange, _core
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.commands import cli
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import CheckpointError, UserError
from midrange_puffer.game.observation import features_of, spaces_of
from midrange_puffer.game.orders import are_orders, orders_in
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.exported import to_onnx
from midrange_puffer.policies.native import FrozenNetwork
from midrange_puffer.policies.networks import Policy, make_policy
from midrange_puffer.policies.player import Player
from midrange_puffer.replays.recorder import FightRecorder
from midrange_puffer.replays.session import Session

TWOS = {"red_size": 2, "blue_size": 2}
COMMAND = ["--env.action-mode=orders", "--env.agents=side", *runs.TEAM]
FEATURES = len(features_of(_core.TEAM, 2, 2))


def commander(size: int = 2, seed: int = 3) -> torch.nn.Module:
    """Returns a commander whose orders depend on all that it observes."""
    torch.manual_seed(seed)
    policy = make_policy(spaces_of(_core.TEAM, "orders", size, size, 4, size), {"hidden_size": 16})
    with torch.no_grad():
        policy.actor.weight.mul_(100)
    return policy.eval()


def test_c_and_torch_give_the_same_orders():
    policy = commander()
    assert (policy.features, policy.action_size, policy.commanded) == (2 * FEATURES, 6, 2)
    seen = torch.rand(65, policy.features) * 2 - 1
    outputs, _ = policy.forward_eval(seen, {})
    wanted = torch.stack([logits.argmax(dim=1) for logits in outputs], dim=1).int()
    assert np.array_equal(FrozenNetwork(policy).act(seen.numpy(), None), wanted.numpy())
    assert len(wanted.unique(dim=0)) > 3


def test_a_player_sees_its_side_together_and_the_dead_as_zeros():
    policy, rng = commander(), np.random.default_rng(0)
    rows = rng.random((10, FEATURES), np.float32) * 2 - 1
    present = np.array([0, 1, 2, 5, 6, 7, 9])  # of five sides; two have lost a fighter
    whole = np.zeros_like(rows)
    whole[present] = rows[present]
    expected = FrozenNetwork(policy).act(whole.reshape(5, -1), None).reshape(10, 3)
    player = Player(policy, 10, seed=1, greedy=True)
    commands = player.act(rows[present], present)
    assert are_orders(commands).all()
    assert np.array_equal(orders_in(commands), expected[present])
    # The order stands for four decisions, and a reset of one fighter's row is one of its side.
    later = rng.random((10, FEATURES), np.float32) * 2 - 1
    assert np.array_equal(player.act(later, np.arange(10)), player.act(rows, np.arange(10)))
    player.reset(np.array([2, 3]))
    fresh = FrozenNetwork(policy).act(later.reshape(5, -1), None).reshape(10, 3)
    again = orders_in(player.act(later, np.arange(10)))
    assert np.array_equal(again[2:4], fresh[2:4])
    assert np.array_equal(again[:2], expected[:2])


def constant(fighters: int) -> torch.nn.Module:
    """Returns a policy or a commander that orders the same always: crank, fire freely."""
    policy = make_policy(spaces_of(_core.TEAM, "orders", 2, 2, 4, fighters), {"hidden_size": 16})
    with torch.no_grad():
        for weight in policy.actor.parameters():
            weight.zero_()
        for first in range(0, 12 * fighters, 12):  # 6 orders, 3 permissions, 3 targets
            policy.actor.bias[[first + 1, first + 8]] = 100
        policy.actor.bias[9 + 2 if fighters == 1 else 11] = 0
    return policy.eval()


def test_a_commander_fights_as_a_policy_of_fighters_with_the_same_orders():
    flat, whole = constant(1), constant(2)
    parameters = resolve(TWOS | {"time_limit": 120}, teams=True)
    records = [
        play([Fight(one, "evader"), Fight("evader", one)], 8, greedy=True, parameters=parameters)
        for one in (flat, whole)
    ]
    assert np.array_equal(records[0], records[1])
    play([Fight(flat, whole)], 4, parameters=parameters)


def test_its_replays_tell_the_orders_of_each_fighter():
    parameters = resolve(TWOS, teams=True)
    recorder = FightRecorder(("whole", None), 2, 0, parameters, {})
    [records] = play([Fight(constant(2), "weave")], 2, parameters=parameters, watch=recorder)
    orders = recorder.replay(records[0]).orders
    assert {(given.fighter, given.words.split()[0]) for given in orders} == {
        (0, "crank"),
        (1, "crank"),
    }


def test_a_commander_of_another_size_is_refused():
    policy = commander(3)
    for sizes, message in (
        ({"red_size": 3, "blue_size": 3}, None),
        (TWOS, "commander of 3 fighters: it cannot fly 2 fighters of a side"),
        ({"red_size": 2, "blue_size": 3}, "commander of 3 fighters: it cannot fly 2 fighters"),
        ({"red_size": 1, "blue_size": 3}, "commander of 3 fighters: it cannot fly one fighter of"),
    ):
        parameters = resolve(sizes | {"time_limit": 20}, teams=True)
        if message is None:
            play([Fight(policy, "weave")], 1, parameters=parameters)
            continue
        with pytest.raises(UserError, match=message):
            play([Fight(policy, "weave")], 1, parameters=parameters)
    for size, message in ((2, "sides of 3"), (1, "one against one|three|team")):
        with pytest.raises(UserError, match=message):
            Midrange(2, opponent=policy, red_size=size, blue_size=size)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A tiny run of a commander, against itself, a pool and pilots."""
    folder = tmp_path_factory.mktemp("commander")
    options = [*COMMAND, *runs.MIX, "--train.total-timesteps=16384", "--league.interval=4"]
    assert runs.train(folder, *options) == 0
    return folder / "run"


def test_training_in_both_engines_with_a_pool(run, tmp_path):
    rows = runs.rows(run)
    assert all(np.isfinite(row["losses/policy_loss"]) for row in rows)
    policy, entries = load_policy(sorted(run.glob("model_*.pt"))[-1])
    assert (entries["env"]["agents"], policy.commanded) == ("side", 2)
    assert entries["action_nvec"] == [6, 3, 3] * 2
    assert runs.resume(run, "--train.total-timesteps=20480", "--train.engine=torch") == 0
    lstm = [*COMMAND, "--base.rnn-name=Recurrent", "--env.opponent=self"]
    assert runs.train(tmp_path, *lstm) == 0


def test_weights_of_another_sharing_are_no_start(run, tmp_path):
    start = [f"--base.load-model-path={run}", *COMMAND]
    assert runs.train(tmp_path, *start) == 0
    with pytest.raises(UserError, match=r"its policy\.parameter_sharing is True, not False"):
        runs.train(tmp_path, *start, "--policy.parameter-sharing=False")


def test_an_mlp_over_all_features_of_the_side_trains(tmp_path):
    assert runs.train(tmp_path, *COMMAND, "--policy.parameter-sharing=False") == 0
    policy, _ = load_policy(sorted((tmp_path / "run").glob("model_*.pt"))[-1])
    assert isinstance(policy, Policy)
    assert not policy.shares


def test_evaluation_and_a_league_take_it_beside_flat_policies(run, tmp_path, capsys):
    flat = tmp_path / "flat"
    flat.mkdir()
    assert runs.train(flat, *runs.TEAM) == 0
    models = [str(run), str(flat / "run")]
    words = ["--load-model-path", models[0], "--opponent", f"weave:1,{flat / 'run'}:1"]
    assert cli.run("eval", [*words, "--episodes=8", "--env.time-limit=20"]) == 0
    table = tmp_path / "league.json"
    words = [*models, "--games=4", "--json", str(table), "--env.time-limit=20"]
    assert cli.run("league", words) == 0
    assert table.exists()


def test_a_session_has_its_orders(run):
    session = Session(
        [load_policy(sorted(run.glob("model_*.pt"))[-1])[0], "weave"],
        names=["it", "weave"],
        **TWOS,
        time_limit=20,
    )
    for _ in range(8):
        session.step()
    assert {given.fighter for given in session.replay().orders} == {0, 1}


def test_its_export_gives_the_same_orders(run, tmp_path, capsys):
    path = tmp_path / "commander.onnx"
    assert cli.run("export", ["--load-model-path", str(run), "--onnx", str(path)]) == 0
    assert "onnxruntime and torch differ by at most" in capsys.readouterr().out
    exported, entries = load_policy(path)
    policy, wanted = load_policy(sorted(run.glob("model_*.pt"))[-1])
    assert {name: entries[name] for name in wanted} == wanted
    assert (exported.commanded, exported.features) == (2, policy.features)
    parameters = resolve(TWOS | {"time_limit": 60}, teams=True)
    ours, theirs = (
        play([Fight(flyer, "weave"), Fight("weave", flyer)], 4, parameters=parameters)
        for flyer in (exported, policy)
    )
    assert np.array_equal(ours, theirs)


def test_its_export_explains_the_order_of_each_fighter(run, tmp_path):
    path = tmp_path / "commander.onnx"
    path.write_bytes(to_onnx(*load_policy(sorted(run.glob("model_*.pt"))[-1])))
    model = onnx.load(path)
    names = [f"{head}_{n}" for n in range(2) for head in ("order", "permission", "target")]
    assert [output.name for output in model.graph.output] == [*names, "value"]
    assert model.graph.output[0].doc_string == model.graph.output[3].doc_string
    assert "commands the 2 fighters of a side" in model.doc_string
    about = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert about["fighters"] == 2
    assert len(about["features"]) == FEATURES
    assert list(about["actions"]) == ["order", "permission", "target"]


def test_a_file_that_commands_what_is_not_there_is_refused(run, tmp_path):
    entries = torch.load(sorted(run.glob("model_*.pt"))[-1])
    for change, message in (
        ({"agents": "all"}, "agents = 'all': must be"),
        ({"action_mode": "discrete"}, "agents = side: a commander gives orders"),
        ({"blue_size": 3}, "needs two equal sides"),
        ({"agents": "fighter"}, "its action_nvec is"),
    ):
        torch.save({**entries, "env": entries["env"] | change}, tmp_path / "bad.pt")
        with pytest.raises(CheckpointError, match=message):
            load_policy(tmp_path / "bad.pt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--env.action-mode=discrete"], "env.agents = side: a commander gives orders"),
        (["--env.blue-size=3"], "env.agents = side: needs two equal sides"),
        (["--train.critic=side"], "train.critic = side: a commander .* must be own"),
        (["--env.agents=team"], "env.agents = team: must be"),
    ],
)
def test_configurations_in_which_nothing_is_commanded(options, message, tmp_path):
    with pytest.raises(UserError, match=message):
        runs.train(tmp_path, *COMMAND, *options)


def test_the_sides_of_a_commander_do_not_change_in_a_curriculum(tmp_path):
    sizes = [word.removeprefix("--env.").replace("-", "_") for word in runs.TEAM]
    path = runs.small_config(tmp_path)
    text = path.read_text().replace(
        "[env]", "[env]\naction_mode = orders\nagents = side\n" + "\n".join(sizes)
    )
    stage = "[curriculum.large]\nenv.red_size = 3\nenv.blue_size = 3\n"
    path.write_text(f"{text}[curriculum]\nstages = large\n{stage}")
    with pytest.raises(UserError, match=r"env.red_size = 3: the commander of .env. is of 2"):
        cli.run("train", ["--config", str(path), "--train.data-dir", str(tmp_path)])
