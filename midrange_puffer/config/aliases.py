"""What other libraries call the keys of a configuration, so that an error can name ours.

The names are those of RLlib, Stable-Baselines3, CleanRL, Sample Factory, rl_games (IsaacGym), Unity
ML-Agents, and of PufferLib before version 3. One that is a key of ours in the section where it
stands is no error, and is that key.
"""

# Our key -> what it is called elsewhere.
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


def also_called(name: str) -> list[tuple[str, str]]:
    """The keys (section, name) that other libraries call so, be it as nEnvs or as n_envs."""
    return [
        tuple(key.split("."))
        for key, names in ALIASES.items()
        if _plain(name) in map(_plain, names.split())
    ]


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
