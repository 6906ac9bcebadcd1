"""The names that other libraries have for the keys of this one.

They are those of RLlib, Stable-Baselines3, CleanRL, Sample Factory, rl_games (IsaacGym), Unity
ML-Agents, Hugging Face's trainer, and PufferLib before and after version 3.
"""

# Key -> its names in other libraries.
ALIASES = {
    "train.total_timesteps": "total_steps total_env_steps max_env_steps max_timesteps "
    "num_timesteps max_steps train_for_env_steps",
    "train.bptt_horizon": "rollout_steps bptt n_steps num_steps rollout rollout_length "
    "rollout_fragment_length unroll_length horizon horizon_length time_horizon max_seq_len",
    "train.batch_size": "train_batch_size_per_learner batch train_batch_size",
    "train.minibatch_size": "batch mini_batch_size sgd_minibatch_size num_minibatches nminibatches "
    "num_batches_per_epoch",
    "train.update_epochs": "epochs ppo_epochs k_epochs replay_ratio n_epochs num_epochs num_epoch "
    "noptepochs mini_epochs num_sgd_iter",
    "train.learning_rate": "learning_rate_init step_size lr",
    "train.anneal_lr": "lr_schedule learning_rate_schedule",
    "train.adam_eps": "eps adam_epsilon",
    "train.max_grad_norm": "grad_clip grad_norm clip_grad_norm",
    "train.clip_coef": "clip clip_param clip_range clip_ratio e_clip ppo_clip_ratio",
    "train.vf_clip_coef": "clip_range_vf clip_vloss clip_value vf_clip_param ppo_clip_value",
    "train.vf_coef": "vf_coeff vf_loss_coeff value_coef value_loss_coef value_loss_coeff "
    "critic_coef",
    "train.ent_coef": "entropy_weight entropy_bonus ent_coeff entropy_coef entropy_coeff "
    "exploration_loss_coeff",
    "train.gamma": "discount discount_factor",
    "train.gae_lambda": "lambda lam lambd tau",
    "train.vtrace_rho_clip": "rho_clip vtrace_rho vtrace_clip_rho_threshold",
    "train.vtrace_c_clip": "c_clip vtrace_c",
    "experience_buffer.alpha": "per_alpha prioritized_replay_alpha",
    "experience_buffer.beta0": "per_beta per_beta0 per_beta_start prioritized_replay_beta",
    "experience_buffer.capacity": "replay_capacity replay_size buffer_size replay_buffer_size",
    "experience_buffer.warm_up": "min_buffer_size min_replay_size learning_starts",
    "train.prio_alpha": "per_alpha",
    "train.prio_beta0": "per_beta per_beta0 per_beta_start",
    "env.num_envs": "total_agents envs_per_worker envs_per_collector num_envs n_envs num_env "
    "num_envs_per_worker num_envs_per_env_runner",
    "vec.num_workers": "num_workers n_cpu num_cpus num_env_runners num_rollout_workers",
    "cluster.max_collectors": "num_collectors max_workers num_env_runners num_rollout_workers",
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
    "policy.parameter_sharing": "share_weights share_parameters share_policy",
    "base.rnn_name": "use_rnn use_lstm lstm",
    "rnn.hidden_size": "rnn_size lstm_cell_size lstm_hidden_size",
    "train.device": "cuda rl_device sim_device num_gpus",
    "train.torch_deterministic": "cudnn_deterministic",
    "train.run_name": "run_id exp_name experiment experiment_name",
    "train.data_dir": "checkpoint_dir log_dir train_dir output_dir",
    "train.checkpoint_interval": "save_every checkpoint_every save_interval save_freq "
    "save_frequency checkpoint_freq checkpoint_frequency",
    "train.replay_interval": "video_interval",
    "league.interval": "eval_every eval_interval eval_freq evaluation_interval",
    "league.games": "eval_episodes n_eval_episodes",
    "base.wandb": "track with_wandb use_wandb",
    "base.wandb_project": "wandb_project_name",
    "base.tensorboard": "tensorboard_log use_tensorboard",
    "base.load_model_path": "checkpoint checkpoint_path restore",
    "sweep.trials": "n_trials num_trials num_samples max_runs",
    "sweep.workers": "n_jobs",
    "sweep.max_cost": "max_suggestion_cost",
    "experience_buffer.share": "replay_ratio replay_share replay_fraction",
    "vec.num_envs": "num_buffers",
    "train.threads": "num_threads",
    "base.env_name": "env_id",
    "train.precision": "amp use_amp amp_dtype fp16 bf16 mixed_precision half dtype",
    "train.tf32": "allow_tf32 use_tf32",
    "train.compile": "torch_compile use_compile",
    "train.max_minibatch_size": "gradient_accumulation_steps gradient_accumulation "
    "grad_accumulation grad_accumulation_steps grad_accum grad_accum_steps accumulate_grad_batches "
    "microbatch_size",
}

# Names of `ALIASES` that set their key, with a word on stderr: their meaning is exactly the key's.
ACCEPTED = ("total_steps", "epochs")

# Names that set train.max_minibatch_size = train.minibatch_size / value, with a word on stderr.
ACCUMULATION = (
    "gradient_accumulation_steps", "gradient_accumulation", "grad_accumulation",
    "grad_accumulation_steps", "grad_accum", "grad_accum_steps", "accumulate_grad_batches",
)  # fmt: skip

# Options of commands that stand for another option, with a word on stderr.
OPTIONS = {"--gif-path": "--gif", "--mp4-path": "--mp4", "--frame-rate": "--fps"}

_FILM = (
    "films are made of replays: puffer eval midrange --save-replays N, then puffer replay midrange "
    "REPLAY --gif FILE --fps N"
)

# Names that no key stands for -> what to use.
REFUSED = {
    "target_kl kl_target": "no update stops early at a divergence: train.clip_coef and "
    "train.max_grad_norm bound it, and train.kl_coef pulls towards an earlier policy",
    "norm_adv normalize_advantage normalize_advantages": "the advantages of each minibatch are "
    "always normalised",
    "norm_reward normalize_reward normalize_rewards reward_clip clip_rewards norm_obs "
    "normalize_observations": "observations lie in [-1, 1] and rewards are bounded by the "
    "environment: env.reward_… weight their parts",
    "distributed use_ddp ddp world_size nproc_per_node num_learners num_gpus_per_learner": "learn "
    "in several processes by --ranks N, on several machines by torchrun",
    "local_rank": "torchrun gives each process its rank; on one machine use --ranks N",
    "downsample": "sweep.readings is how often a trial is measured",
    "no_model_upload upload_model": "wandb receives the last model when the run ends; "
    "without base.wandb nothing is uploaded",
    "reward rewards reward_function reward_fn": "the parts of the reward are weighted by "
    "env.reward_…; a reward of your own is a class in base.env_class",
    "agent agent_class model network policy_class": "the policy is base.policy_name, its sizes "
    "are in [policy]; a trained one is base.load_model_path",
    "save_fig save_plots plot": "puffer plot midrange --run RUN --out FILE draws a run's curves",
    "load_id wandb_id": "go on with a run by --resume RUN, or begin with its weights by "
    "--load-model-path RUN; trackers then know their record",
    "render_mode render": "puffer eval midrange --load-model-path MODEL --render shows fights; "
    "in Python an environment has render_mode",
    "save_frames gif_path fps frame_rate video capture_video save_video": _FILM,
    "based_on base_config extends inherits": "an ini file begins from another by "
    "based_on = FILE in its [base]; on the command line --config names the file",
    "package": "puffer train ENVIRONMENT starts PufferLib's other environments; code of your own "
    "is base.env_class and base.policy_name, module:Class",
    "zero_copy overwork": "observations are in memory that the workers share, and vec.num_workers "
    "is at most the cores",
    "warmup_seconds warmup_steps": "experience_buffer.warm_up counts segments, of "
    "train.bptt_horizon decisions each",
    "use_per prioritized_replay use_replay": "experience_buffer.capacity above 0 replays earlier "
    "experience, by priority; experience_buffer.alpha = 0 draws uniformly",
    "steps_per_worker steps_per_collector": "a collector gathers train.bptt_horizon decisions of "
    "each of its engagements, env.num_envs in all",
    "num_iterations num_iters iterations n_iterations": "a run is train.total_timesteps long, "
    "in agent decisions; an update is train.batch_size of them",
}
