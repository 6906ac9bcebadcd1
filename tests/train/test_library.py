"""Training from Python: the command's run, a program's own loop, and refusals."""

import functools
import runpy
import sys

import numpy as np
import pytest
import runs
from places import EXAMPLES
from pyro.contrib.gp import util as gp_util

from midrange_puffer.checkpoint import CheckpointError, load_policy
from midrange_puffer.errors import UserError
from midrange_puffer.game.parameters import LADDER
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.training import ConfigError, Trainer, load_config, make_vec, opponents_of

pytestmark = pytest.mark.slow


def small(folder, name="run", **overrides):
    """Returns the configuration of a small run."""
    where = {"train.data_dir": folder, "train.run_name": name}
    return load_config(runs.small_config(folder), {**where, **overrides})


class Rows(list):
    """A logger that has only `log`."""

    def log(self, metrics, step):
        self.append((step, metrics))


def test_it_is_the_run_of_the_command(tmp_path, capfd):
    """It logs the same figures, writes the same files, and prints nothing."""
    assert runs.train(tmp_path, "--train.run-name", "command") == 0
    capfd.readouterr()
    rows = Rows()
    with Trainer(small(tmp_path, "library"), logger=rows) as trainer:
        while not trainer.is_over:
            trainer.evaluate()
            row = trainer.train()
            assert row == rows[-1][1]
    assert capfd.readouterr().out == ""
    assert runs.timeless(tmp_path / "library") == runs.timeless(tmp_path / "command")
    names = [
        sorted(path.name for path in (tmp_path / run).glob("*")) for run in ("command", "library")
    ]
    assert names[0] == names[1]
    assert [step for step, _ in rows] == [1024 * (n + 1) for n in range(8)]
    assert trainer.folder == tmp_path / "library"
    assert trainer.score is not None


def test_it_is_stopped_saved_and_resumed(tmp_path):
    seen = []

    def stop_at_half(trainer, metrics):
        seen.append(metrics["agent_steps"])
        if trainer.global_step >= 4096:
            trainer.stop()

    with Trainer(small(tmp_path), callbacks=[stop_at_half]) as trainer:
        trainer.run()
        path = trainer.save({"note": "half-way", "scores": (1, 2)})
    assert seen == [1024, 2048, 3072, 4096]
    _, about = load_policy(path)
    assert about["agent_steps"] == 4096
    assert about["metadata"] == {"note": "half-way", "scores": [1, 2]}
    with Trainer.resume(tmp_path / "run", {"train.total_timesteps": 6144}) as trainer:
        assert trainer.global_step == 4096
        trainer.run()
        assert trainer.global_step == 6144
    assert [row["agent_steps"] for row in runs.rows(tmp_path / "run")] == [
        1024 * (n + 1) for n in range(6)
    ]


def test_a_row_may_be_logged_at_any_time(tmp_path):
    rows = Rows()
    with Trainer(small(tmp_path, **{"train.log_interval": 100}), logger=rows) as trainer:
        for update in range(3):
            trainer.evaluate()
            assert trainer.train() == {}
            if update == 1:
                row = trainer.mean_and_log()
                assert trainer.mean_and_log() == {}
    assert [step for step, _ in rows] == [2048, 3072]  # the last one where it is saved
    assert rows[0][1] == row
    assert "environment/score" in row


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_settings_change_during_the_run(tmp_path, engine):
    """The rows equal those of a run with these settings from its start; a resumed run has them."""
    fixed = {"train.anneal_lr": False, "train.engine": engine}
    changed = {"train.learning_rate": 1e-4, "train.ent_coef": 0.5, "train.clip_coef": 0.05}
    rows, expected = Rows(), Rows()
    with Trainer(small(tmp_path, "expected", **fixed, **changed), logger=expected) as trainer:
        trainer.run()
    with Trainer(small(tmp_path, **fixed), logger=rows) as trainer:
        for key, value in changed.items():
            setattr(trainer, key.removeprefix("train."), value)
            assert trainer.config.train[key.removeprefix("train.")] == value
        assert trainer.learning_rate == 1e-4
        trainer.run()
    timeless = ("losses/", "environment/", "learning_rate")
    of = [
        [{k: v for k, v in row.items() if k.startswith(timeless)} for _, row in run]
        for run in (rows, expected)
    ]
    assert of[0] == of[1]
    with Trainer.resume(tmp_path / "run", {"train.total_timesteps": 2**14}) as trainer:
        assert (trainer.learning_rate, trainer.ent_coef) == (1e-4, 0.5)


def test_a_setting_holds_in_the_stages_that_follow(tmp_path):
    stages = {
        "curriculum.stages": "first,second",
        "curriculum.first.max_steps": 2048,
        "curriculum.first.train.learning_rate": 0.02,
        "curriculum.second.env.opponent": "weave",
        "train.total_timesteps": 4096,
        "train.anneal_lr": False,
    }
    rows = Rows()
    with Trainer(small(tmp_path, **stages), logger=rows) as trainer:
        trainer.learning_rate = 0.003
        trainer.run()
    assert {metrics["learning_rate"] for _, metrics in rows} == {0.003}


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("lr", 1e-4, AttributeError, "lr: no such attribute; did you mean learning_rate"),
        ("learning_rte", 1e-4, AttributeError, "did you mean learning_rate"),
        ("batch_size", 64, AttributeError, "batch_size: holds for the whole run; these may"),
        ("config", 3, AttributeError, "config"),
        ("best", 3, AttributeError, "best: no such attribute"),
        ("learning_rate", 2.0, ValueError, "learning_rate = 2.0: must be a number from"),
        ("gamma", "high", ValueError, "gamma = 'high': must be a number from"),
    ],
)
def test_no_other_attribute_can_be_set(tmp_path, name, value, error, words):
    with Trainer(small(tmp_path)) as trainer, pytest.raises(error, match=words):
        setattr(trainer, name, value)


def test_checkpoints_by_path(tmp_path):
    """A model is saved at a path of one's own, and its weights are loaded into another run."""
    path = tmp_path / "mine.pt"
    with Trainer(small(tmp_path)) as trainer:
        trainer.run()
        assert trainer.save_checkpoint(path, metadata={"note": 3}) == path
        weights = {name: value.clone() for name, value in trainer.policy.state_dict().items()}
    with Trainer(small(tmp_path, "other", **{"train.seed": 7})) as trainer:
        trainer.evaluate()
        with pytest.raises(RuntimeError, match="call train"):
            trainer.load_checkpoint(path)
        trainer.train()
        assert trainer.load_checkpoint(path) == {"note": 3}
        loaded = trainer.policy.state_dict()
        assert all((loaded[name] == value).all() for name, value in weights.items())
        trainer.run()
    with (
        Trainer(small(tmp_path, "wider", **{"policy.hidden_size": 48})) as trainer,
        pytest.raises(ConfigError, match=r"policy.hidden_size is .*, not 48"),
    ):
        trainer.load_checkpoint(path)


def test_an_error_leaves_the_last_checkpoint(tmp_path):
    def fail(trainer, metrics):
        raise ZeroDivisionError

    trainer = Trainer(small(tmp_path), callbacks=[fail])
    with pytest.raises(ZeroDivisionError), trainer:
        trainer.run()
    assert [path.name for path in (tmp_path / "run").glob("model_*")] == ["model_000000.pt"]
    with Trainer.resume(tmp_path / "run") as trainer:  # the lock is free
        assert trainer.global_step == 0


def test_stages_follow_each_other(tmp_path):
    stages = {
        "curriculum.stages": "first,second",
        "curriculum.first.max_steps": 2048,
        "curriculum.second.env.opponent": "weave",
        "train.total_timesteps": 3072,
    }
    rows = Rows()
    with Trainer(small(tmp_path, **stages), logger=rows) as trainer:
        trainer.run()
    assert [metrics["curriculum/stage"] for _, metrics in rows] == [1, 1, 2]


def test_one_number_sets_the_opponents(tmp_path):
    """Pilots join one after another; config.ini and a resumed run have them."""
    before = None
    with Trainer(small(tmp_path, **{"train.total_timesteps": 2**13})) as trainer:
        assert trainer.difficulty is None
        for difficulty in (0, 0.2, 0.2, 1):
            begun, is_new = trainer._stages.trainer, difficulty not in (0, before)
            trainer.difficulty = before = difficulty
            trainer.evaluate()
            assert (trainer._stages.trainer is not begun) == is_new
            trainer.train()
            assert trainer.difficulty == difficulty
        with pytest.raises(ValueError, match=r"difficulty = 1.5: must be from 0 to 1"):
            trainer.difficulty = 1.5
    assert trainer.global_step == 4096
    with Trainer.resume(tmp_path / "run") as trainer:
        trainer.run()
        assert trainer.global_step == 8192
        assert parse_mix(trainer.config.env.opponent).keys() == set(LADDER)
    figures = [{name for name in row if "/win_vs_" in name} for row in runs.rows(tmp_path / "run")]
    assert "environment/win_vs_ace" in figures[-1]
    assert "environment/win_vs_ace" not in figures[0]


@pytest.mark.parametrize(
    ("difficulty", "mix"),
    [
        (0, {"straight": 1}),
        (1 / 9, {"straight": 1, "weave": 1}),
        (0.25, {"straight": 1, "weave": 1, "shooter": 1, "crank": 0.25}),
        (1, dict.fromkeys(LADDER, 1)),
    ],
)
def test_pilots_join_in_the_order_of_the_ladder(difficulty, mix):
    shares = {name: share / sum(mix.values()) for name, share in mix.items()}
    assert parse_mix(opponents_of(difficulty)) == pytest.approx(shares)


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"train.learnin_rate: no such key"):
        load_config(None, {"train.learnin_rate": 1})
    with pytest.raises(TypeError, match=r"logger of type int: must have log"):
        Trainer(small(tmp_path), logger=3).__enter__()
    with pytest.raises(TypeError, match=r"callbacks: 3: must be callable"):
        Trainer(small(tmp_path), callbacks=[3]).__enter__()
    with pytest.raises(CheckpointError, match="nowhere: no such run folder"):
        Trainer.resume("nowhere", {"train.data_dir": tmp_path}).__enter__()
    with Trainer(small(tmp_path)) as trainer:
        with pytest.raises(UserError, match="run"), Trainer(small(tmp_path)):
            pass
        with pytest.raises(ValueError, match="metadata"):
            trainer.save({"policy": object()})
    with pytest.raises(RuntimeError, match="block has ended"):
        trainer.__enter__()


def test_output_of_own_code_is_heard(tmp_path, capfd):
    (tmp_path / "loud_reward.py").write_text(
        "from midrange_puffer import Midrange\n"
        "class Loud(Midrange):\n"
        "    def own_reward(self, decision):\n"
        "        print('paid', self.num_agents)\n"
        "        return {}\n"
    )
    config = small(tmp_path, **{"base.env_class": f"{tmp_path / 'loud_reward.py'}:Loud"})
    with Trainer(config) as trainer:
        capfd.readouterr()
        trainer.evaluate()
        assert set(capfd.readouterr().out.splitlines()) == {"paid 64"}


def test_the_vector_tells_of_every_end():
    """All engagements end by the time limit, and PuffeRL reads only terminals."""
    config = load_config(
        None, {"env.num_envs": 128, "env.opponent": "straight", "env.time_limit": 2,
               "vec.backend": "Serial"}
    )  # fmt: skip
    vec = make_vec(config)
    vec.async_reset(seed=0)
    ends = []
    for _ in range(9):
        _, _, terminals, truncations, *_ = vec.recv()
        ends.append(terminals.tolist())
        assert np.array_equal(terminals, truncations)
        vec.send(np.zeros((128, 3), np.int32))
    vec.close()
    assert [row[0] for row in ends] == [False] * 4 + [True] + [False] * 3 + [True]


def test_the_vector_finds_runs_as_the_trainer_does(tmp_path):
    assert runs.train(tmp_path) == 0
    for name in ("run", "latest"):
        vec = make_vec(small(tmp_path, **{"env.opponent": f"straight,{name}"}))
        vec.async_reset(seed=0)
        assert vec.recv()[0].shape[0] == 64
        vec.close()


@pytest.mark.parametrize(
    ("example", "words", "said"),
    [
        ("own_loop.py", ["--goal", "0.01"], "against ace it scores"),
        ("own_sweep.py", ["--trials", "2", "train.total_timesteps=70000"], "best: trial"),
    ],
)
def test_the_examples_run(tmp_path, monkeypatch, capsys, example, words, said):
    words += [f"train.data_dir={tmp_path}", "env.num_envs=64", "train.minibatch_size=1024"]
    monkeypatch.setattr(sys, "argv", [example, *words])
    monkeypatch.setattr(gp_util, "train", functools.partial(gp_util.train, num_steps=10))
    runpy.run_path(str(EXAMPLES / example), run_name="__main__")
    assert said in capsys.readouterr().out


def test_the_trials_of_ray_tune_report_their_scores():
    """Ray Tune itself is not among the package's requirements."""
    reports = []
    train = runpy.run_path(str(EXAMPLES / "ray_tune.py"))["train"]
    settings = {"train.learning_rate": 0.02, "train.total_timesteps": 250_000, "train.threads": 1}
    train({**settings, "env.time_limit": 60, "league.interval": 0}, reports.append)
    assert [report["steps"] for report in reports] == sorted(report["steps"] for report in reports)
    assert reports[-1]["steps"] >= 250_000
    assert all(0 <= report["score"] <= 1 for report in reports)


def test_the_reward_of_every_stage_is_tried_before_there_is_a_folder(tmp_path):
    path = tmp_path / "own_reward_of_stages.py"
    path.write_text(
        "import numpy as np\n"
        "from midrange_puffer import Midrange\n"
        "class Rising(Midrange):\n"
        "    def own_reward(self, decision, gain: float = 1.0):\n"
        "        return {'gain': np.full(self.num_agents, gain if gain < 50 else np.inf)}\n"
    )
    config = load_config(
        None,
        {
            "base.env_class": f"{path}:Rising",
            "train.data_dir": tmp_path / "runs",
            "curriculum.stages": "a,b",
            "curriculum.a.max_steps": 1000,
            "curriculum.b.env.gain": 100,
        },
    )
    with pytest.raises(UserError, match=r"part gain is inf for agent 0"):
        Trainer(config).__enter__()
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "use",
    [lambda text: load_config(None, text), lambda text: Trainer.resume("latest", text).__enter__()],
)
def test_overrides_are_no_single_text(use):
    with pytest.raises(
        ConfigError, match=r"overrides = 'train\.seed=3': is a single text; must be values"
    ):
        use("train.seed=3")


def test_calls_out_of_order_are_refused(tmp_path):
    with pytest.raises(TypeError, match="config of type str: must come from load_config"):
        Trainer("configs/default.ini").__enter__()
    trainer = Trainer(small(tmp_path))
    with pytest.raises(RuntimeError, match="use the trainer in `with Trainer"):
        trainer.evaluate()
    with trainer:
        with pytest.raises(RuntimeError, match=r"no new experience; call evaluate\(\)"):
            trainer.train()
        trainer.evaluate()
        gathered = trainer.global_step
        with pytest.raises(
            RuntimeError, match=r"there is experience to learn from; call train\(\)"
        ):
            trainer.evaluate()
        assert trainer.global_step == gathered > 0
        trainer.train()
        with pytest.raises(RuntimeError, match=r"no new experience; call evaluate\(\)"):
            trainer.train()
    for use in (trainer.evaluate, trainer.train, trainer.save, trainer.mean_and_log):
        with pytest.raises(RuntimeError, match=r"the run is closed; Trainer.resume\("):
            use()
