"""Configuration: its layers, its checks, and its way through a file and back."""

import ast
import configparser
import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midrange_puffer.config import (
    ConfigError,
    changes,
    check_training,
    format_config,
    load_config,
    run_configs,
)
from midrange_puffer.key import Key
from midrange_puffer.schema import SECTIONS, schema
from midrange_puffer.settle import settle
from midrange_puffer.vectorize import choose_device, choose_threads, choose_vec

PUFFERLIB = Path(importlib.util.find_spec("pufferlib").submodule_search_locations[0])
ROOT = Path(__file__).parents[1]
CONFIGS = sorted(ROOT.glob("configs/*.ini"))


def write(folder: Path, text: str) -> Path:
    path = folder / "my.ini"
    path.write_text(text)
    return path


def error(path: Path | None, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    return str(caught.value)


def test_defaults_are_pufferlibs_but_for_what_has_to_differ():
    theirs = configparser.ConfigParser()
    theirs.read(PUFFERLIB / "config" / "default.ini")
    ours = load_config()["train"]
    shared = {name: text for name, text in theirs["train"].items() if name in ours}
    assert len(shared) > 25
    differ = {name for name, text in shared.items() if _literal(text) != ours[name]}
    assert differ == {"device"}


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except ValueError:
        return text


def test_every_key_that_the_trainer_reads_is_ours():
    source = (PUFFERLIB / "pufferl.py").read_text()
    trainer = source[source.index("class PuffeRL") : source.index("def compute_puff_advantage")]
    read = set(re.findall(r"config\[['\"](\w+)['\"]\]", trainer))
    assert len(read) > 30
    assert read - set(load_config()["train"]) == {"use_rnn", "env"}


def test_file_overrides_defaults_and_command_line_overrides_file(tmp_path):
    path = write(tmp_path, "[train]\ngamma = 0.9\nent_coef = 0.5\n[base]\ntag = night\n")
    config = load_config(path, ["--train.gamma", "0.8", "--train.vf_coef=3", "--wandb"])
    assert config["train"]["gamma"] == 0.8
    assert config["train"]["ent_coef"] == 0.5
    assert config["train"]["vf_coef"] == 3.0
    assert config["base"]["tag"] == "night"
    assert config["base"]["wandb"] is True


@pytest.mark.parametrize("text", ["2000000", "2_000_000", "2e6"])
@pytest.mark.parametrize("option", ["--train.total-timesteps", "--train.total_timesteps"])
def test_ways_of_writing_an_integer(option, text):
    value = load_config(None, [option, text])["train"]["total_timesteps"]
    assert value == 2_000_000
    assert isinstance(value, int)


@pytest.mark.parametrize(("text", "value"), [("True", True), ("no", False), (None, True)])
def test_ways_of_writing_a_flag(text, value):
    words = ["--train.compile"] + [text] * (text is not None)
    assert load_config(None, [*words, "--tag", "x"])["train"]["compile"] is value


def values(key: Key) -> st.SearchStrategy:
    """Values that `key` allows, by its declaration."""
    words = st.sampled_from(key.words) if key.words else st.nothing()
    if key.kind is bool:
        return words | st.booleans()
    if key.kind is int:
        return words | st.integers(int(key.minimum), int(key.maximum))
    if key.kind is float:
        return words | st.floats(key.minimum, key.maximum)
    return words | st.sampled_from(key.choices or (key.default or "text",))


@given(st.data())
def test_config_ini_gives_back_the_same_config(tmp_path_factory, data):
    config = load_config()
    for section in ("base", "vec", "policy", "rnn", "train", "pool"):
        for name, key in schema()[section].items():
            config[section][name] = data.draw(values(key), label=f"{section}.{name}")
    path = write(tmp_path_factory.mktemp("config"), format_config(config))
    assert load_config(path) == config


def test_config_ini_gives_back_the_environment(tmp_path):
    words = ["--env.start-range-min", "1234.5678901", "--env.opponent", "shooter:1,evader:3"]
    config = load_config(None, words)
    again = load_config(write(tmp_path, format_config(config)))
    assert again == config
    assert again["env"]["start_range_min"] == 1234.5678901


@pytest.mark.parametrize("cores", [2, 16])
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_configs_of_the_repository_fit_small_and_large_machines(monkeypatch, path, cores):
    """In all their stages."""
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: cores)
    monkeypatch.setattr("midrange_puffer.settle.usable_cores", lambda: cores)
    config = load_config(path, ["--train.device=cpu", "--train.precision=float32"])
    settle(config)
    assert config["base"]["env_name"] == "midrange"
    for part in run_configs(config):
        assert part["train"]["batch_size"] % part["train"]["minibatch_size"] == 0


def test_configs_of_the_repository_are_there():
    assert "default.ini" in [path.name for path in CONFIGS]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[trane]\n", ["[trane]", "no such section", "'train'"]),
        ("[train]\nlerning_rate = 1\n", ["[train] lerning_rate", "no such key", "'learning_rate'"]),
        ("[base]\ngamma = 1\n", ["[base] gamma", "it belongs in [train]"]),
        ("[train]\ngamma = 1.5\n", ["[train] gamma = 1.5", "a number from 0.0 to 1.0"]),
        ("[train]\ngamma = nan\n", ["[train] gamma = nan", "a number from 0.0 to 1.0"]),
        ("[train]\ngamma = high\n", ["[train] gamma = high", "a number from 0.0 to 1.0"]),
        ("[train]\nseed = 2.5\n", ["[train] seed = 2.5", "an integer from 0 to 2147483647"]),
        ("[train]\nseed = inf\n", ["[train] seed = inf", "an integer from 0 to 2147483647"]),
        ("[train]\ncompile = maybe\n", ["[train] compile = maybe", "True or False"]),
        ("[train]\noptimizer = sgd\n", ["[train] optimizer = sgd", "one of muon, adam"]),
        ("[train]\ndevice = tpu\n", ["[train] device = tpu", "auto, cpu, cuda, cuda:N or mps"]),
        ("[train]\nrun_name = a/b\n", ["[train] run_name = a/b", "letters, digits"]),
        ("[env]\nnum_envs = 0\n", ["[env] num_envs = 0", "an integer from 1 to"]),
        ("[env]\nseat = green\n", ["[env] seat = green", "red, blue"]),
        ("[env]\nsubstep = 5\n", ["[env] substep", "'substeps'"]),
        ("[env]\nopponent = shoter\n", ["[env] opponent = shoter", "shooter"]),
        ("[env]\nstart_range_min = 9e4\n", ["[env]", "start_range_min", "start_range_max"]),
        ("[train]\ngamma = 1\ngamma = 1\n", ["line 3", "[train] gamma", "twice"]),
        ("[train]\n[train]\n", ["line 2", "[train]", "twice"]),
        ("gamma = 1\n", ["not an ini file"]),
        ("[pool]\nsampling = pfps\n", ["[pool] sampling = pfps", "one of pfsp, uniform"]),
        ("[league]\ngames = 7\n", ["[league] games = 7", "even"]),
        ("[train]\ngamma\n", ["not an ini file"]),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, text, parts):
    path = write(tmp_path, text)
    message = error(path)
    for part in (str(path), *parts):
        assert part in message


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--train.lerning-rate", "1"], ["--train.lerning-rate", "'learning_rate'"]),
        (["--learning-rate", "1"], ["--learning-rate", "it belongs in [train]"]),
        (["--trane.gamma", "1"], ["--trane.gamma", "'train'"]),
        (["--train.gamma", "2"], ["--train.gamma = 2", "a number from 0.0 to 1.0"]),
        (["--train.gamma"], ["--train.gamma", "needs a value"]),
        (["gamma", "1"], ["gamma", "not an option"]),
    ],
)
def test_a_wrong_option_is_refused_by_name(words, parts):
    message = error(None, *words)
    for part in ("command line", *parts):
        assert part in message


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_installed_configs_are_found_from_everywhere(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    for name in (f"configs/{path.name}", path.name):
        assert load_config(name) == load_config(path)


def test_a_file_that_is_there_comes_before_an_installed_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    for folder, gamma in (("configs", 0.8), (".", 0.7)):
        (tmp_path / folder / "default.ini").write_text(f"[train]\ngamma = {gamma}\n")
        assert load_config(Path(folder, "default.ini"))["train"]["gamma"] == gamma


def test_a_file_that_is_nowhere_is_refused_with_those_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("configs/defualt.ini", "defualt.ini"):
        message = error(name)
        assert message.startswith(f"{name}: No such file or directory; installed are ")
        assert message.endswith("; did you mean 'configs/default.ini'?")
        assert all(f"configs/{path.name}" in message for path in CONFIGS)
    # Of another folder somebody has named nothing is guessed.
    assert "No such file" in error("experiments/default.ini")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_configs_point_to_sections_that_there_are(path):
    comments = " ".join(re.findall(r"^# ?(.*)", path.read_text(), re.MULTILINE))
    for name, section in re.findall(r"(\S+\.md)(?:, \"(.*?)\")?", comments):
        text = (ROOT / name.strip("(),")).read_text()
        assert not section or re.search(rf"^#+ {re.escape(section)}$", text, re.MULTILINE)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    assert "No such file" in error(tmp_path / "nowhere.ini")
    assert "Is a directory" in error(tmp_path)
    (tmp_path / "model.ini").write_bytes(b"\x80\x02\xff")
    assert "not text" in error(tmp_path / "model.ini")


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    path = tmp_path / "mark.ini"
    path.write_bytes(b"\xef\xbb\xbf[train]\ngamma = 0.5\n")
    assert load_config(path)["train"]["gamma"] == 0.5


def test_changes_names_what_differs():
    old = load_config()
    new = load_config(None, ["--train.gamma", "0.5", "--env.substeps", "7"])
    assert changes(old, new) == {
        "env.substeps": (old["env"]["substeps"], 7),
        "train.gamma": (old["train"]["gamma"], 0.5),
    }


AGENTS = 64
FITTING = {
    "total_timesteps": 8192,
    "batch_size": 2048,
    "minibatch_size": 512,
    "max_minibatch_size": 512,
    "bptt_horizon": 16,
}


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
    config = {**load_config(), "train": FITTING}
    check_training(config, AGENTS)
    with pytest.raises(ConfigError) as caught:
        check_training({**config, "train": {**FITTING, **change}}, AGENTS)
    for number in (next(iter(change)), *numbers):
        assert number in str(caught.value)


@pytest.mark.parametrize(("cuda", "device"), [(0, "cpu"), (2, "cuda")])
def test_device_auto_takes_cuda_where_it_is(monkeypatch, cuda, device):
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda > 0)
    monkeypatch.setattr("torch.cuda.device_count", lambda: cuda)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "a GPU")
    assert choose_device("auto")[0] == device
    assert choose_device("cpu")[0] == "cpu"
    with pytest.raises(ConfigError, match=f"train.device = cuda:2: {cuda} CUDA devices found"):
        choose_device("cuda:2")


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
def test_backend_follows_the_cores_to_spare(
    monkeypatch, device, cores, backend, instances, engagements
):
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: cores)
    config = load_config(None, ["--env.num-envs", "2048"])
    config["train"]["device"] = device
    choose_vec(config, cores)
    vec, env = config["vec"], config["env"]
    assert (vec["backend"], vec["num_envs"], env["num_envs"]) == (backend, instances, engagements)
    if backend == "Multiprocessing":
        assert (vec["num_workers"], vec["batch_size"]) == (instances, instances // 2)
    again = {section: dict(config[section]) for section in SECTIONS}
    choose_vec(again, cores)
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
def test_workers_divide_every_group_of_every_stage(monkeypatch, words, workers):
    """So that there are as many agents as on a machine without workers."""
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: 16)
    config = load_config(None, ["--train.device=cpu", "--env.num-envs=640", *words])
    choose_vec(config, 16)
    assert config["vec"]["num_workers"] == workers
    assert config["env"]["num_envs"] == 640 // workers


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--vec.num-envs=3"], ["vec.num_workers = 3", "2 physical cores"]),
        (["--vec.num-envs=2", "--vec.num-workers=1"], ["vec.num_envs = 2", "vec.num_workers = 1"]),
        (["--vec.num-envs=2", "--vec.batch-size=3"], ["vec.batch_size = 3", "vec.num_envs = 2"]),
        (["--vec.num-workers=2", "--env.num-envs=7"], ["env.num_envs = 7", "vec.num_workers = 2"]),
        (["--vec.backend=PufferEnv", "--vec.num-envs=2"], ["vec.num_envs = 2", "PufferEnv"]),
    ],
)
def test_a_vectorization_that_cannot_be_is_refused(monkeypatch, words, parts):
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: 2)
    config = load_config(None, ["--vec.backend=Multiprocessing", "--train.device=cpu", *words])
    with pytest.raises(ConfigError) as caught:
        choose_vec(config, 2)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("cores", "workers", "wanted", "threads"),
    [(1, "auto", "auto", 1), (2, "auto", "auto", 1), (8, "auto", "auto", 8), (8, 4, "auto", 4),
     (8, 8, "auto", 1), (2, "auto", 2, 2)],
)  # fmt: skip
def test_torch_threads_keep_off_the_workers_and_leave_one_core_of_two(
    cores, workers, wanted, threads
):
    config = load_config()
    config["vec"]["num_workers"] = workers
    config["train"]["torch_threads"] = wanted
    choose_threads(config, cores)
    assert config["train"]["torch_threads"] == threads
