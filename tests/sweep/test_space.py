"""The space of a sweep: what it may vary, over which ranges, and what is refused."""

import math
from pathlib import Path

import pytest
from machines import machine

from midrange_puffer.config.configuration import ConfigError, format_config
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.sweep.space import Space, trial_config

RATE = """
[sweep.train.learning_rate]
distribution = log_normal
min = 0.001
mean = 0.01
max = 0.1
"""


def config(tmp_path, text, *overrides):
    path = tmp_path / "sweep.ini"
    path.write_text(text)
    return load_config(path, overrides)


def of_key(name, distribution, low, mean, high):
    return (
        f"[sweep.{name}]\ndistribution = {distribution}\nmin = {low}\nmean = {mean}\nmax = {high}\n"
    )


def choices(name, values):
    return f"[sweep.{name}]\nvalues = {values}\n"


@pytest.mark.parametrize(
    ("name", "distribution", "low", "middle", "high"),
    [
        ("train.clip_coef", "uniform", 0.1, 0.3, 0.5),
        ("train.update_epochs", "int_uniform", 1, 2, 3),
        ("train.minibatch_size", "uniform_pow2", 1024, 4096, 16384),
        ("train.ent_coef", "log_normal", 1e-4, 1e-3, 1e-2),
        ("train.gamma", "logit_normal", 0.9, 0.99, 0.999),
    ],
)
def test_position_runs_along_the_scale_of_the_distribution(
    tmp_path, name, distribution, low, middle, high
):
    settings = config(tmp_path, of_key(name, distribution, low, middle, high))
    parameter = Space(settings).parameters[name]
    positions = [parameter.position(value) for value in (low, middle, high)]
    assert positions == pytest.approx([0, 0.5, 1])


def test_a_space_is_read_back_from_its_own_configuration(tmp_path):
    settings = config(tmp_path, RATE, "--sweep.env.reward-threat.distribution=uniform",
        "--sweep.env.reward-threat.min=0", "--sweep.env.reward-threat.mean=0.1",
        "--sweep.env.reward-threat.max", "0.3")  # fmt: skip
    again = config(tmp_path, format_config(settings))
    assert again == settings
    assert Space(again).parameters == Space(settings).parameters
    assert list(Space(again).parameters) == ["train.learning_rate", "env.reward_threat"]
    assert Space(again).center == {"train.learning_rate": 0.01, "env.reward_threat": 0.1}


def test_values_are_rounded_to_few_digits_and_stay_in_the_range(tmp_path):
    text = RATE + of_key("train.update_epochs", "uniform", 1, 2, 3)
    rate, epochs = Space(config(tmp_path, text)).parameters.values()
    assert rate.rounded(0.0123456) == 0.01235
    assert rate.rounded(0.100000001) == 0.1
    assert rate.rounded(0.0009) == 0.001
    assert epochs.rounded(1.7) == 2
    assert isinstance(epochs.rounded(1.7), int)


@pytest.mark.parametrize(
    ("distribution", "low", "high", "given", "expected"),
    [
        # Of 1 - value, where the range is divided by its logarithm.
        ("logit_normal", 0.9, 0.99999, 0.99987654, 0.9998765),
        ("logit_normal", 0.1, 0.99999, 0.123456, 0.1235),
        ("logit_normal", 0.1, 0.99999, 0.9999999, 0.99999),
        # As PufferLib has rounded it.
        ("uniform_pow2", 0.015625, 0.5, 0.015625, 0.015625),
        ("int_uniform", 0, 1, 1.0, 1.0),
    ],
)
def test_values_are_rounded_as_their_distribution_needs(
    tmp_path, distribution, low, high, given, expected
):
    text = of_key("train.gamma", distribution, low, low, high)
    [gamma] = Space(config(tmp_path, text)).parameters.values()
    assert gamma.rounded(given) == expected


def test_choices_are_tried_as_they_stand(tmp_path):
    text = choices("policy.hidden_size", "32, 64, 256") + choices("train.optimizer", "muon, adam")
    text += choices("train.anneal_lr", "True,False") + "scale = 0.5\n"
    settings = config(tmp_path, text)
    assert config(tmp_path, format_config(settings)) == settings
    sizes, optimizers, anneal = Space(settings).parameters.values()
    assert [sizes.rounded(number) for number in (-0.4, 0.6, 2.2)] == [32, 64, 256]
    assert [sizes.position(size) for size in (32, 64, 256)] == [0, 0.5, 1]
    assert [optimizers.number(name) for name in ("muon", "adam")] == [0, 1]
    assert anneal.choices == (True, False)
    center = {"policy.hidden_size": 64, "train.optimizer": "muon", "train.anneal_lr": True}
    assert Space(settings).center == center
    assert trial_config(settings, center)["train"]["optimizer"] == "muon"


def test_a_trial_has_the_values_and_nothing_of_the_space(tmp_path):
    settings = config(tmp_path, RATE)
    trial = trial_config(settings, {"train.learning_rate": 0.02})
    assert trial["train"]["learning_rate"] == 0.02
    assert not [section for section in trial if section.startswith("sweep.")]
    assert settings["train"]["learning_rate"] != 0.02
    rest = {name: items for name, items in trial.items() if name != "train"}
    assert rest == {
        name: items for name, items in settings.items() if name in rest and name != "train"
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (of_key("train.gama", "uniform", 0, 0, 1), "cannot vary train.gama; did you mean 'train.g"),
        (of_key("train.seed", "int_uniform", 0, 1, 2), "cannot vary train.seed"),
        (of_key("env.opponent", "uniform", 0, 1, 2), "cannot vary env.opponent"),
        (of_key("league.games", "uniform", 2, 4, 6), "cannot vary league.games"),
        (of_key("train.gamma", "uniform", 0.5, 0.9, 1.5), r"max = 1.5: gamma must be .* 0.0 to 1"),
        (of_key("env.reward_threat", "uniform", -1, 0, 0.1), "min = -1: reward_threat must be"),
        (of_key("train.gamma", "normal", 0.5, 0.9, 0.99), "distribution = normal: must be None or"),
        (of_key("train.gamma", "logit_normal", 0.5, 0.9, 1), "below 1 for logit_normal"),
        (of_key("train.ent_coef", "log_normal", 0, 0.1, 1), "min = 0.0: must be above 0 for log"),
        (of_key("train.gamma", "uniform", 0.9, 0.5, 0.99), "mean = 0.5: must be from min = 0.9"),
        (of_key("train.gamma", "uniform", 0.9, 0.9, 0.9), "min = 0.9: must be below max = 0.9"),
        (of_key("train.minibatch_size", "uniform_pow2", 1, 3, 4), "3: must be a power of 2"),
        (of_key("train.update_epochs", "uniform", 1.5, 2, 3), "min = 1.5: update_epochs must be"),
        (of_key("train.clip_coef", "int_uniform", 0, 0.5, 1), "mean = 0.5: must be an integer"),
        (RATE.replace("min = 0.001\n", ""), r"\[sweep.train.learning_rate\] min: must be given"),
        (RATE + "scale = 3\n", "scale = 3: must be auto or time or a number from"),
        (RATE + "center = 3\n", "center: no such key"),
        (of_key("train.gamma", "uniform", 0.5, 0.9, 1) + "scale = time\n", "only for log_normal"),
        ("[env]\nnum_envs = 64\n", "varies nothing"),
        (choices("train.optimizer", "muon,sgd"), r"values = muon,sgd: optimizer must be one of"),
        (choices("train.gamma", "0.9,1.5"), r"values = 0.9,1.5: gamma must be a number from 0.0"),
        (choices("train.gamma", "0.9,0.9"), "must be two or more, none twice"),
        (choices("train.gamma", "0.9"), "must be two or more, none twice"),
        (choices("train.gamma", "0.9,0.99") + "mean = 0.95", r"mean = 0.95: must be one of 0.9, 0"),
        (choices("train.gamma", "0.9,0.99") + "max = 1", "max = 1.0: without effect beside values"),
        (choices("train.gamma", "0.9,0.99") + "scale = time", "only for log_normal, not for val"),
        (of_key("train.optimizer", "uniform", 0, 1, 2), "values: must be given, for optimizer is"),
    ],
)  # fmt: skip
def test_keys_that_do_not_fit_are_refused_by_name(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        Space(config(tmp_path, text))


def test_the_panel_has_pilots_only(tmp_path):
    with pytest.raises(ConfigError, match=r"= ace,evadr: evadr: must be .* did you mean 'evader'"):
        config(tmp_path, RATE, "--sweep.panel", "ace,evadr")
    with pytest.raises(ConfigError, match=r"panel = ace,ace: ace is given twice"):
        config(tmp_path, RATE, "--sweep.panel", "ace,ace")


def test_no_training_can_have_the_seed_of_the_panel(tmp_path):
    settings = config(tmp_path, RATE)
    with pytest.raises(ConfigError, match=r"command line: --train\.seed"):
        load_config(None, ["--train.seed", str(settings["sweep"]["panel_seed"])])


def test_the_distributions_are_pufferlibs(tmp_path):
    # PufferLib's own classes agree on where a value is: theirs runs from -1 to 1.
    from pufferlib.sweep import Hyperparameters

    text = RATE + of_key("train.gamma", "logit_normal", 0.9, 0.99, 0.999)
    parameters = Space(config(tmp_path, text)).parameters
    theirs = {
        name: {"distribution": p.distribution, "min": p.minimum, "max": p.maximum, "mean": p.mean,
               "scale": p.scale}
        for name, p in parameters.items()
    }  # fmt: skip
    spaces = Hyperparameters({"metric": "score", "goal": "maximize", **theirs}, verbose=False)
    for name, value in (("train.learning_rate", 0.03), ("train.gamma", 0.97)):
        here = parameters[name].position(value)
        assert spaces.spaces[name].normalize(value) == pytest.approx(2 * here - 1)
        assert math.isfinite(here)


STAGES = """
[curriculum]
stages = first, second
[curriculum.first]
max_steps = 1000
train.gamma = 0.9
train.ent_coef = 0.1
[curriculum.second]
train.gamma = 0.95
"""
GAMMA = of_key("train.gamma", "uniform", 0.5, 0.9, 0.99)
RNN = of_key("rnn.hidden_size", "uniform_pow2", 64, 128, 256)
OWN = Path(__file__).parents[2] / "examples/gru.py:GRU"
ALPHA = of_key("experience_buffer.alpha", "uniform", 0, 0.5, 1)
CAPACITY = [
    f"--sweep.experience-buffer.capacity.{word}"
    for word in ("distribution=int_uniform", "min=0", "mean=1000", "max=9000")
]


def test_keys_that_no_training_reads_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"\[sweep.train.gamma\]: .* every stage sets it"):
        Space(config(tmp_path, GAMMA + STAGES))
    with pytest.raises(ConfigError, match=r"\[sweep.rnn.hidden_size\]: .* base.rnn_name is None"):
        Space(config(tmp_path, RNN))
    with pytest.raises(ConfigError, match=r"\[sweep.rnn.hidden_size\]: .*; vary that"):
        Space(config(tmp_path, RNN, "--base.rnn-name=Recurrent"))
    own = Space(config(tmp_path, RNN, "--base.rnn-name=Recurrent", f"--policy-name={OWN}"))
    assert list(own.parameters) == ["rnn.hidden_size"]
    with pytest.raises(ConfigError, match=r"\[sweep.experience_buffer.alpha\]: .*capacity is 0"):
        Space(config(tmp_path, ALPHA))
    for options in (["--experience-buffer.capacity=1000"], CAPACITY):
        assert "experience_buffer.alpha" in Space(config(tmp_path, ALPHA, *options)).parameters


def settled(settings):
    """The trial at the centre of a configuration's space, settled."""
    return settle(trial_config(settings, Space(settings).center), machine())


def test_a_key_that_only_some_stages_set_is_reported(tmp_path, capsys):
    text = RATE + of_key("train.ent_coef", "log_normal", 0.001, 0.01, 0.1) + STAGES
    settings = config(tmp_path, text, "--vec.backend=Serial")
    Space(settings).check_effects(settled(settings))
    assert capsys.readouterr().err.splitlines() == [
        "[sweep.train.ent_coef]: without effect in the stages that set train.ent_coef themselves: "
        "first"
    ]


@pytest.mark.parametrize("key", ["num_workers", "batch_size"])
def test_keys_that_this_machine_does_not_read_are_refused(tmp_path, key):
    text = of_key(f"vec.{key}", "int_uniform", 1, 2, 4)
    settings = config(tmp_path, text, "--vec.backend=Serial")
    message = rf"\[sweep.vec.{key}\]: without effect, for auto .* 2 where vec.backend is Serial"
    with pytest.raises(ConfigError, match=message):
        Space(settings).check_effects(settled(settings))


def test_engagements_may_be_divided_among_workers(tmp_path):
    text = of_key("env.num_envs", "uniform_pow2", 64, 128, 256)
    words = ("--vec.backend=Multiprocessing", "--vec.num-workers=2")
    settings = config(tmp_path, text, *words)
    trial = settled(settings)
    assert trial["env"]["num_envs"] == 64
    Space(settings).check_effects(trial)
