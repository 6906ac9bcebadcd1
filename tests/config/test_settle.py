"""Settling a configuration for a machine: numbers that fit, devices, workers and threads."""

import pytest
from config_files import assert_refused
from machines import machine
from places import CONFIGS

from midrange_puffer.config.checks import check_training, check_update
from midrange_puffer.config.configuration import ConfigError, run_configs
from midrange_puffer.config.machine import choose_device, choose_threads, choose_vec
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle

AGENTS = 64
FITTING = {
    "total_timesteps": 8192,
    "batch_size": 2048,
    "minibatch_size": 512,
    "max_minibatch_size": 512,
    "bptt_horizon": 16,
}


@pytest.mark.parametrize("cores", [2, 16])
@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.ini")), ids=lambda path: path.name)
def test_configs_of_the_repository_fit_small_and_large_machines(path, cores):
    """In all their stages."""
    words = ["--train.device=cpu", "--train.precision=float32"]
    config = settle(load_config(path, words), machine(cores))
    assert config.base.env_name == "midrange"
    for part in run_configs(config):
        assert part.train.batch_size % part.train.minibatch_size == 0


@pytest.mark.parametrize(
    ("change", "numbers"),
    [
        ({"batch_size": 1536}, ["1536", "1024", "64 agents", "16"]),
        ({"batch_size": 512}, ["512", "1024"]),
        ({"minibatch_size": 1000, "max_minibatch_size": 1000}, ["1000", "16"]),
        ({"minibatch_size": 768, "max_minibatch_size": 512}, ["768", "512"]),
        ({"minibatch_size": 4096, "max_minibatch_size": 4096}, ["2048", "4096"]),
        ({"total_timesteps": 2047}, ["2047", "2048"]),
    ],
)
def test_numbers_that_do_not_fit_are_named(change, numbers):
    config = load_config().replaced("train", "a test", **FITTING)
    check_training(config, AGENTS)
    config = config.replaced("train", "a test", **change)
    assert_refused([next(iter(change)), *numbers], check_training, config, AGENTS)


def test_a_memory_is_empty_at_the_start_of_every_segment():
    """By itself only of those that an update begins with, or that a collector gathers."""
    config = load_config().replaced("base", "a test", rnn_name="Recurrent")
    config = config.replaced("train", "a test", **FITTING)
    message = r"batch_size 2048 must be 1024 = 64 agents x bptt_horizon 16 with .*Recurrent"
    with pytest.raises(ConfigError, match=message):
        check_training(config, AGENTS)
    check_training(config.replaced("train", "a test", batch_size=1024), AGENTS)
    check_training(config.replaced("cluster", "a test", engine="ray"), AGENTS)


def test_an_lstm_is_as_wide_as_the_policy():
    words = ["--base.rnn-name=Recurrent", "--policy.hidden-size=128", "--rnn.hidden-size=64"]
    with pytest.raises(ConfigError, match=r"rnn.hidden_size = 64: must be 128, as policy.hidden"):
        settle(load_config(None, words), machine(4))


@pytest.mark.parametrize(
    ("words", "gpus", "device"),
    [
        ([], 0, "cpu"),
        ([], 2, "cpu"),
        (["--policy.hidden-size=256"], 0, "cpu"),
        (["--policy.hidden-size=256"], 2, "cuda"),
        (["--policy.hidden-size=256", "--train.engine=native"], 2, "cpu"),
        (["--train.engine=torch"], 2, "cuda"),
        (["--train.precision=bfloat16"], 2, "cuda"),
        (["--train.pin-memory=True"], 2, "cuda"),
        (["--base.rnn-name=Recurrent"], 2, "cuda"),
        (["--train.device=cpu", "--train.engine=torch"], 2, "cpu"),
        (["--train.device=cuda:1"], 2, "cuda:1"),
    ],
)
def test_device_auto_is_the_gpu_where_the_native_engine_is_not_faster(words, gpus, device):
    config, _ = choose_device(load_config(None, words), machine(gpus=gpus))
    assert config.train.device == device


@pytest.mark.parametrize("gpus", [0, 2])
def test_a_gpu_that_is_not_there_is_named(gpus):
    with pytest.raises(ConfigError, match=f"train.device = cuda:2: {gpus} CUDA devices found"):
        choose_device(load_config(None, ["--train.device=cuda:2"]), machine(gpus=gpus))


@pytest.mark.parametrize(
    ("device", "cores", "backend", "instances", "engagements"),
    [
        ("cpu", 2, "Serial", 1, 2048),
        ("cpu", 5, "Serial", 1, 2048),
        ("cuda", 2, "Serial", 1, 2048),
        ("cuda", 3, "Multiprocessing", 2, 1024),
        ("cpu", 6, "Multiprocessing", 2, 1024),
        ("cuda", 16, "Multiprocessing", 8, 256),
    ],
)
def test_backend_follows_the_cores_to_spare(device, cores, backend, instances, engagements):
    words = ["--env.num-envs=2048", f"--train.device={device}"]
    config, _ = choose_vec(load_config(None, words), machine(cores))
    vec, env = config.vec, config.env
    assert (vec.backend, vec.num_envs, env.num_envs) == (backend, instances, engagements)
    if backend == "Multiprocessing":
        assert (vec.num_workers, vec.batch_size) == (instances, instances // 2)
    again, _ = choose_vec(config, machine(cores))
    assert again == config


@pytest.mark.parametrize(
    ("words", "workers"),
    [
        ([], 10),
        (["--env.opponent=self:3,pool:1,evader:1"], 8),  # 64 could not be divided so
        (["--curriculum.stages=a", "--curriculum.a.env.num-envs=320"], 10),
        (["--curriculum.stages=a", "--curriculum.a.env.num-envs=96"], 8),
        (["--curriculum.stages=a", "--curriculum.a.env.opponent=self:3,pool:1,evader:1"], 8),
    ],
)
def test_workers_divide_every_group_of_every_stage(words, workers):
    """So that there are as many agents as on a machine without workers."""
    config = load_config(None, ["--train.device=cpu", "--env.num-envs=640", *words])
    config, _ = choose_vec(config, machine(16))
    assert config.vec.num_workers == workers
    assert config.env.num_envs == 640 // workers


@pytest.mark.parametrize(("workers", "batch"), [(1, 1), (4, 2), (5, 1), (9, 3)])
def test_a_batch_divides_any_number_of_workers(workers, batch):
    words = ["--vec.backend=Multiprocessing", "--train.device=cpu", "--env.num-envs=8"]
    config = load_config(None, [*words, f"--vec.num-envs={2 * workers}"])
    config = config.replaced("vec", "test", num_workers=workers)
    assert choose_vec(config, machine(16))[0].vec.batch_size == 2 * batch


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--vec.num-envs=3"], ["vec.num_workers = 3", "2 physical cores"]),
        (["--vec.num-envs=3", "--vec.num-workers=2"], ["vec.num_envs = 3", "vec.num_workers = 2"]),
        (["--vec.num-envs=2", "--vec.batch-size=3"], ["vec.batch_size = 3", "vec.num_envs = 2"]),
        (["--vec.num-workers=2", "--env.num-envs=7"], ["env.num_envs = 7", "vec.num_workers = 2"]),
        (["--vec.backend=PufferEnv", "--vec.num-envs=2"], ["vec.num_envs = 2", "PufferEnv"]),
    ],
)
def test_a_vectorization_that_cannot_be_is_refused(words, parts):
    config = load_config(None, ["--vec.backend=Multiprocessing", "--train.device=cpu", *words])
    assert_refused(parts, choose_vec, config, machine(2))


@pytest.mark.parametrize(
    ("cores", "workers", "wanted", "threads"),
    [(1, "auto", "auto", 1), (2, "auto", "auto", 1), (8, "auto", "auto", 8), (8, 4, "auto", 4),
     (8, 8, "auto", 1), (2, "auto", 2, 2)],
)  # fmt: skip
def test_torch_threads_keep_off_the_workers_and_leave_one_core_of_two(
    cores, workers, wanted, threads
):
    config = load_config(None, [f"--vec.num-workers={workers}", f"--train.torch-threads={wanted}"])
    config = choose_threads(config, cores)
    assert config.train.torch_threads == threads


@pytest.mark.parametrize("cores", [1, 4, 16])
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--train.minibatch-size=1000"],
        ["--train.minibatch-size=4800"],
        ["--train.batch-size=65536", "--env.opponent=self:1,shooter:1"],
        ["--train.batch-size=98304", "--env.opponent=self:1,shooter:1"],
        ["--vec.num-envs=2", "--env.num-envs=100", "--train.minibatch-size=12800"],
        ["--vec.num-envs=2", "--env.num-envs=100", "--train.minibatch-size=8192"],
        ["--cluster.engine=ray", "--train.minibatch-size=4800"],
    ],
)
def test_settings_that_no_machine_can_train_are_refused_before_the_machine_is_known(words, cores):
    config, said = load_config(None, words), []
    for check in (check_update, lambda config: settle(config, machine(cores))):
        try:
            check(config)
            said.append(None)
        except ConfigError as error:
            said.append(str(error))
    assert said[0] == said[1]
