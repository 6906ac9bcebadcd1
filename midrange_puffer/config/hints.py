"""Suggests the right key for one that does not exist.

Other libraries have other names for many keys: RLlib, Stable-Baselines3, CleanRL, Sample Factory,
rl_games (IsaacGym), Unity ML-Agents, and PufferLib before version 3. An error names the key here
that such a name stands for, unless it is itself a key of the section where it is given.
"""

import difflib
from collections.abc import Iterable

from midrange_puffer.config.schema import RUN_KEYS, STAGE, SWEPT, schema, section_keys
from midrange_puffer.policies.own_code import Own

MOST = 3  # names in one message

# Key -> its names in other libraries.
ALIASES = {
    "train.total_timesteps": "max_timesteps total_steps num_timesteps max_steps "
    "train_for_env_steps",
    "train.bptt_horizon": "n_steps num_steps rollout rollout_length rollout_fragment_length "
    "unroll_length horizon horizon_length time_horizon max_seq_len",
    "train.batch_size": "batch train_batch_size",
    "train.minibatch_size": "batch mini_batch_size sgd_minibatch_size num_minibatches nminibatches "
    "num_batches_per_epoch",
    "train.update_epochs": "n_epochs num_epochs num_epoch noptepochs mini_epochs num_sgd_iter",
    "train.learning_rate": "lr",
    "train.anneal_lr": "lr_schedule learning_rate_schedule",
    "train.adam_eps": "eps adam_epsilon",
    "train.max_grad_norm": "grad_clip grad_norm clip_grad_norm",
    "train.clip_coef": "clip clip_param clip_range clip_ratio e_clip ppo_clip_ratio",
    "train.vf_clip_coef": "clip_range_vf clip_vloss clip_value vf_clip_param ppo_clip_value",
    "train.vf_coef": "vf_coeff vf_loss_coeff value_coef value_loss_coef value_loss_coeff "
    "critic_coef",
    "train.ent_coef": "ent_coeff entropy_coef entropy_coeff exploration_loss_coeff",
    "train.gamma": "discount discount_factor",
    "train.gae_lambda": "lambda lam lambd tau",
    "train.vtrace_rho_clip": "rho_clip vtrace_rho vtrace_clip_rho_threshold",
    "train.vtrace_c_clip": "c_clip vtrace_c",
    "experience_buffer.alpha": "per_alpha prioritized_replay_alpha",
    "experience_buffer.beta0": "per_beta per_beta0 per_beta_start prioritized_replay_beta",
    "experience_buffer.capacity": "buffer_size replay_buffer_size",
    "experience_buffer.warm_up": "learning_starts",
    "train.prio_alpha": "per_alpha",
    "train.prio_beta0": "per_beta per_beta0 per_beta_start",
    "env.num_envs": "num_envs n_envs num_env num_envs_per_worker num_envs_per_env_runner",
    "vec.num_workers": "num_workers n_cpu num_cpus num_env_runners num_rollout_workers",
    "cluster.max_collectors": "num_env_runners num_rollout_workers",
    "vec.batch_size": "env_batch_size",
    "vec.backend": "vectorization vec_backend",
    "cluster.sync": "sync_mode async_rl",
    "cluster.weight_sync_interval": "broadcast_interval",
    "env.physics_dt": "dt sim_dt timestep",
    "env.substeps": "time_scale frame_skip env_frameskip action_repeat decimation decision_period "
    "control_freq_inv",
    "env.time_limit": "max_episode_steps max_episode_length episode_length",
    "policy.hidden_size": "hidden_dim hidden_units net_arch fcnet_hiddens",
    "policy.hidden_layers": "num_layers n_layers net_arch fcnet_hiddens",
    "base.rnn_name": "use_rnn use_lstm lstm",
    "rnn.hidden_size": "rnn_size lstm_cell_size lstm_hidden_size",
    "train.device": "cuda rl_device sim_device num_gpus",
    "train.torch_deterministic": "cudnn_deterministic",
    "train.run_name": "exp_name experiment experiment_name",
    "train.data_dir": "log_dir train_dir output_dir",
    "train.checkpoint_interval": "save_interval save_freq save_frequency checkpoint_freq "
    "checkpoint_frequency",
    "train.replay_interval": "video_interval",
    "league.interval": "eval_interval eval_freq evaluation_interval",
    "league.games": "eval_episodes n_eval_episodes",
    "base.wandb": "track with_wandb use_wandb",
    "base.wandb_project": "wandb_project_name",
    "base.tensorboard": "tensorboard_log use_tensorboard",
    "base.load_model_path": "checkpoint checkpoint_path restore",
    "sweep.trials": "n_trials num_trials num_samples max_runs",
    "sweep.workers": "n_jobs",
    "sweep.max_cost": "max_suggestion_cost",
}


def option_of(section: str, name: str) -> str:
    """Returns a key as it is written on a command line."""
    return f"--{name if section == 'base' else f'{section}.{name}'}".replace("_", "-")


def entry_of(section: str, name: str) -> str:
    """Returns a key as it stands in an ini file."""
    return f"[{section}] {name}"


def right_keys(section: str, name: str, own: Own) -> list[tuple[str, str]]:
    """Returns the keys (section, name) that a key that does not exist may stand for.

    If other libraries use the name, these are the keys that they mean by it. Otherwise the keys of
    the section that have nearly this name, or have it as a part, come first. Then come the keys of
    exactly this name in other sections. If there is none of these, it is whatever is near.
    """
    if keys := _keys_by_alias(section, name, own):
        return keys
    if section.startswith((STAGE, SWEPT)):
        return [(section, key) for key in _near(name, section_keys(section, own))]
    sections = schema(own)
    keys = [(section, key) for key in _near(name, sections.get(section, ()))]
    keys += [(home, name) for home in sections if name in sections[home]]
    if not keys:
        options = {
            option_of(home, key).removeprefix("--"): (home, key)
            for home in sections
            for key in sections[home]
        }
        near = _near(option_of(section, name).removeprefix("--"), options)
        keys = [options[option] for option in near]
    return keys[:MOST]


def home_of_run_key(section: str, name: str) -> str | None:
    """Returns the section of a key that holds for the whole run, where a stage would set it."""
    if section.startswith(STAGE):
        for home, names in RUN_KEYS.items():
            if name.removeprefix(f"{home}.") in names:
                return home
    return None


def swept_key(name: str, varied: Iterable[str]) -> str | None:
    """Returns the key of `varied` that another library calls by the name in `name`, section.key."""
    keys = [".".join(key) for key in also_called(name.rpartition(".")[2])]
    return next((key for key in keys if key in varied), None)


def also_called(name: str) -> list[tuple[str, str]]:
    """Returns the keys (section, name) that other libraries call so, as nEnvs or as n_envs."""
    keys = [key for key, names in ALIASES.items() if _plain(name) in map(_plain, names.split())]
    return [(section, key) for section, _, key in (full.partition(".") for full in keys)]


def _keys_by_alias(section: str, name: str, own: Own) -> list[tuple[str, str]]:
    """Returns the keys that other libraries call so and that can be set in this section."""
    keys = also_called(name.rpartition(".")[2])
    if section.startswith(SWEPT):
        return []
    if section.startswith(STAGE):
        allowed = section_keys(section, own)
        return [(section, full) for key in keys if (full := ".".join(key)) in allowed]
    return [(home, key) for home, key in keys if key in schema(own)[home]]


def _near(name: str, keys: Iterable[str]) -> list[str]:
    """Returns the key that is nearest to a name, or else those that have it among their words."""
    keys = list(keys)
    nearest = difflib.get_close_matches(name, keys, n=1)
    return nearest or [key for key in keys if f"_{name}_" in f"_{key}_"]


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
