"""Names that other libraries have for our keys, and the errors that say ours."""

import pytest

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.hints import ALIASES, also_called
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import schema


def test_every_alias_is_of_a_key_that_there_is():
    for key, names in ALIASES.items():
        section, _, name = key.partition(".")
        assert name in schema()[section], key
        for alias in names.split():
            assert (section, name) in also_called(alias)


@pytest.mark.parametrize(
    ("option", "ours"),
    [
        ("--train.lr", "--train.learning-rate"),
        ("--lr", "--train.learning-rate"),
        ("--train.clip-param", "--train.clip-coef"),
        ("--train.clip-range", "--train.clip-coef"),
        ("--train.n-steps", "--train.bptt-horizon"),
        ("--num-steps", "--train.bptt-horizon"),
        ("--n-envs", "--env.num-envs"),
        ("--train.num-envs", "--env.num-envs"),
        ("--env.numEnvs", "--env.num-envs"),
        ("--train.ent-coeff", "--train.ent-coef"),
        ("--train.entropy-coef", "--train.ent-coef"),
        ("--train.vf-coeff", "--train.vf-coef"),
        ("--train.batch", "--train.batch-size or --train.minibatch-size"),
        ("--train.n-epochs", "--train.update-epochs"),
        ("--num-sgd-iter", "--train.update-epochs"),
        ("--train.lambda_", "--train.gae-lambda"),
        ("--train.lambda", "--train.gae-lambda"),
        ("--train.sync-mode", "--cluster.sync"),
        ("--train.per-alpha", "--experience-buffer.alpha or --train.prio-alpha"),
        ("--experience-buffer.per-beta-start", "--experience-buffer.beta0 or --train.prio-beta0"),
        ("--env.time-scale", "--env.substeps"),
        ("--policy.hidden-dim", "--policy.hidden-size"),
        ("--train.max-timesteps", "--train.total-timesteps"),
        ("--n-cpu", "--vec.num-workers"),
    ],
)
def test_a_name_of_another_library_is_told_ours(option, ours):
    with pytest.raises(ConfigError) as caught:
        load_config(None, [option, "1"])
    assert str(caught.value) == f"command line: {option}: no such key; did you mean {ours}?"


def test_in_a_stage_and_in_what_is_swept(tmp_path):
    path = tmp_path / "stages.ini"
    path.write_text("[curriculum]\nstages = a\n[curriculum.a]\ntrain.lr = 1\n")
    with pytest.raises(ConfigError, match=r"did you mean \[curriculum.a\] train.learning_rate\?"):
        load_config(path)
    path.write_text("[sweep.train.lr]\nmin = 1\nmax = 2\n")
    with pytest.raises(ConfigError, match=r"cannot vary train.lr; did you mean 'train.learning_ra"):
        load_config(path)
