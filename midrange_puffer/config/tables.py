"""The table of every configuration key with its type, default, allowed values and meaning.

The [env] keys are not listed here: they come from the parameter table of the core.
"""

import re

from midrange_puffer.config.key import AUTO, NONE, Key, check_even


def _check_device(text: str) -> None:
    if not re.fullmatch(r"cpu|mps|cuda(:\d+)?", text):
        raise ValueError("must be auto, cpu, cuda, cuda:N or mps")


def _check_stages(text: str) -> None:
    names = [name.strip() for name in text.split(",")] if text else []
    if not all(re.fullmatch(r"\w+", name, re.ASCII) for name in names):
        raise ValueError("must be names of letters, digits and '_', with commas between")
    if len(set(names)) < len(names):
        raise ValueError("a name stands there twice")


def _check_panel(text: str) -> None:
    from midrange_puffer.game.parameters import pilot_names

    pilot_names(text)


def _check_run_name(text: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text) or text == "latest":
        raise ValueError("must be letters, digits, '.', '_' and '-', and not 'latest'")


BASE = (
    Key("env_name", str, "environment", "midrange", choices=("midrange",)),
    Key("policy_name", str, "policy", choices=("Policy",)),
    Key("rnn_name", str, "recurrent wrapper of the policy: an LSTM, whose memory ends with the "
        "engagement and, in training, after train.bptt_horizon decisions", words=NONE,
        choices=("Recurrent",)),
    Key("load_model_path", str, "a model whose weights a new run begins with; None = random ones",
        None, words=NONE),
    Key("tag", str, "label of the run in wandb and neptune", None, words=NONE),
    Key("tensorboard", bool, "log to TensorBoard, in the run folder", False),
    Key("wandb", bool, "log to Weights & Biases (WANDB_MODE=offline: without a network)", False),
    Key("wandb_project", str, "its project", "midrange"),
    Key("wandb_group", str, "its group", "debug"),
    Key("neptune", bool, "log to neptune", False),
    Key("neptune_name", str, "its workspace", "midrange"),
    Key("neptune_project", str, "its project", "midrange"),
)  # fmt: skip

VEC = (
    Key("backend", str, "how environments are stepped; auto chooses and says why", "auto",
        words=AUTO, choices=("Serial", "Multiprocessing", "PufferEnv")),
    Key("num_envs", int, "environment instances of env.num_envs engagements each; auto divides "
        "env.num_envs engagements among the workers", "auto", 1, 1024, AUTO),
    Key("num_workers", int, "Multiprocessing: worker processes, one instance each; auto = "
        "vec.num_envs if given, else by the cores to spare", "auto", 1, 1024, AUTO),
    Key("batch_size", int, "Multiprocessing: instances the policy acts for at once while the "
        "others step; auto = half of vec.num_envs", "auto", 1, 1024, AUTO),
)  # fmt: skip

CLUSTER = (
    Key("engine", str, "who runs the collectors that gather the experience; None = nobody: the "
        "environments of [vec] do, beside the learner", None, words=NONE, choices=("ray",)),
    Key("address", str, "of a running Ray cluster, host:port, or auto = that of RAY_ADDRESS; None "
        "= one on this machine, for this run alone", None, words=NONE),
    Key("max_collectors", int, "most collectors at work, a core each; fewer do the same work more "
        "slowly. auto = the cores of this machine, but one where the learner does not wait",
        "auto", 1, 4096, AUTO),
    Key("sync", str, "blocking: the learner waits for experience from its present weights; "
        "non_blocking: collecting and learning overlap", "blocking",
        choices=("blocking", "non_blocking")),
    Key("max_policy_lag", int, "non_blocking: oldest weights that experience may be from", 2, 1,
        1000, unit="updates"),
    Key("weight_sync_interval", int, "non_blocking: updates from one broadcast of the weights to "
        "the next", 1, 1, 1000, unit="updates"),
    Key("timeout", float, "a collector that takes longer for its work is given up and replaced",
        60.0, 1, 1e6, unit="s"),
)  # fmt: skip

EXPERIENCE_BUFFER = (
    Key("capacity", int, "latest segments that each rank keeps to learn from again, anew in every "
        "stage and after a resume; 0 = none: on-policy. With train.cpu_offload their observations "
        "are in page-locked memory", 0, 0, 10**7, unit="segments"),
    Key("warm_up", int, "segments that must be kept before the first is drawn", 0, 0, 10**7,
        unit="segments"),
    Key("share", float, "part of a minibatch that is drawn from them", 0.25, 0.001, 0.9),
    Key("alpha", float, "exponent of their prioritised sampling; 0 = uniform", 0.6, 0.0, 1.0),
    Key("beta0", float, "importance correction of that sampling at the start; 1 at the end of the "
        "run", 0.4, 0.0, 1.0),
)  # fmt: skip

POLICY = (
    Key("hidden_size", int, "width of the hidden layers", 128, 1, 8192, unit="neurons"),
    Key("fire_bias", float, "logit of firing at first; at -4 one decision in 50 fires",
        -4.0, -20, 20),
)  # fmt: skip

RNN = (
    Key("input_size", int, "width of the LSTM's input; auto = policy.hidden_size", "auto", 1, 8192,
        AUTO, unit="neurons"),
    Key("hidden_size", int, "width of the LSTM's state; auto = policy.hidden_size", "auto", 1,
        8192, AUTO, unit="neurons"),
)  # fmt: skip

TRAIN = (
    Key("device", str, "where the policy learns (cpu, cuda, cuda:N, mps); auto = cuda if there is "
        "one, else cpu", "auto", words=AUTO, check=_check_device),
    Key("torch_threads", int, "threads of a learner on the CPU; auto = the cores that the workers "
        "leave, but one of two: the second gains a fifth if nothing else runs, and slows tenfold "
        "where something does", "auto", 1, 1024, AUTO),
    Key("seed", int, "seed of torch, numpy, random and the engagements", minimum=0,
        maximum=2**31 - 1),
    Key("total_timesteps", int, "length of the run", minimum=1, maximum=10**13,
        unit="agent decisions"),
    Key("data_dir", str, "folder that holds the run folders"),
    Key("run_name", str, "name of the run folder; None = date, time and a random suffix", None,
        words=NONE, check=_check_run_name),
    Key("checkpoint_interval", int, "updates from one checkpoint to the next", minimum=1,
        maximum=10**9, unit="updates"),
    Key("replay_interval", int, "updates from one set of replays to the next, and once at the end: "
        "the policy against each pilot of env.opponent, or all without one; auto = a tenth of the "
        "run, in the trials of a sweep never; 0 = never", "auto", 0, 10**9, AUTO, unit="updates"),
    Key("batch_size", int, "experience of one update; auto = agents x bptt_horizon", minimum=1,
        maximum=2**31 - 1, words=AUTO, unit="agent decisions"),
    Key("minibatch_size", int, "experience of one optimizer step", minimum=1, maximum=2**31 - 1,
        unit="agent decisions"),
    Key("max_minibatch_size", int, "most experience in one pass; larger minibatches accumulate "
        "gradients", minimum=1, maximum=2**31 - 1, unit="agent decisions"),
    Key("bptt_horizon", int, "length of a segment of experience", minimum=1, maximum=65536,
        unit="decisions"),
    Key("update_epochs", int, "passes over the experience of an update", minimum=1, maximum=100),
    Key("optimizer", str, "optimizer", choices=("muon", "adam")),
    Key("learning_rate", float, "step size of the optimizer", minimum=1e-8, maximum=1.0),
    Key("anneal_lr", bool, "let the learning rate fall to 0 along a half cosine"),
    Key("adam_beta1", float, "decay of the gradient's mean", minimum=0.0, maximum=0.999999),
    Key("adam_beta2", float, "decay of the gradient's square", minimum=0.0, maximum=0.999999),
    Key("adam_eps", float, "term added to the denominator", minimum=1e-20, maximum=1.0),
    Key("max_grad_norm", float, "gradients are scaled down to this norm", minimum=1e-6,
        maximum=1e6),
    Key("gamma", float, "discount a decision", minimum=0.0, maximum=1.0),
    Key("gae_lambda", float, "decay of generalised advantage estimation", minimum=0.0,
        maximum=1.0),
    Key("clip_coef", float, "clip of the policy ratio (PPO)", minimum=0.0, maximum=10.0),
    Key("vf_coef", float, "weight of the value loss", minimum=0.0, maximum=1000.0),
    Key("vf_clip_coef", float, "clip of the value's change", minimum=0.0, maximum=1000.0),
    Key("ent_coef", float, "weight of the entropy bonus", minimum=0.0, maximum=10.0),
    Key("ent_coef_final", float, "weight of the entropy bonus at the end of the run, approached "
        "linearly; None = constant", None, 0, 10, NONE),
    Key("vtrace_rho_clip", float, "V-trace clip of the temporal difference's weight", minimum=0.0,
        maximum=1000.0),
    Key("vtrace_c_clip", float, "V-trace clip of the trace's weight", minimum=0.0,
        maximum=1000.0),
    Key("prio_alpha", float, "exponent of prioritised sampling of segments; 0 = uniform",
        minimum=0.0, maximum=1.0),
    Key("prio_beta0", float, "importance correction of that sampling at the start", minimum=0.0,
        maximum=1.0),
    Key("precision", str, "number format of the policy; bfloat16 needs CUDA",
        choices=("float32", "bfloat16")),
    Key("torch_deterministic", bool, "deterministic algorithms in cuDNN"),
    Key("cpu_offload", bool, "keep observations in CPU memory"),
    Key("pin_memory", bool, "CUDA: lock the environments' observations into memory, so that copies "
        "to the GPU go at full speed", False),
    Key("compile", bool, "compile the policy with torch.compile"),
    Key("compile_mode", str, "its mode", choices=("default", "reduce-overhead", "max-autotune",
        "max-autotune-no-cudagraphs")),
    Key("compile_fullgraph", bool, "refuse to compile the policy in parts"),
)  # fmt: skip


POOL = (
    Key("size", int, "most frozen policies that the opponent `pool` is drawn from; checkpoints are "
        "thinned to so many, spread over the run", 8, 1, 1024),
    Key("sampling", str, "how one is drawn: pfsp favours those that the learner loses to",
        "pfsp", choices=("pfsp", "uniform")),
    Key("power", float, "pfsp: exponent of the learner's share of lost points", 2.0, 0, 100),
    Key("include", str, "model files that are in the pool from the start, with commas between",
        None, words=NONE),
    Key("own", bool, "let the checkpoints of the run itself join", True),
)  # fmt: skip

LEAGUE = (
    Key("interval", int, "updates from one rating of the policy to the next, and once at the end; "
        "0 = never", 0, 0, 10**9, unit="updates"),
    Key("games", int, "engagements with each opponent in a rating", 64, 2, 1_000_000,
        check=check_even),
    Key("checkpoints", int, "earlier policies of the run that are met besides the pilots", 3, 0,
        1024),
)  # fmt: skip

CURRICULUM = (
    Key("stages", str, "names of the stages in their order, with commas between; None = no "
        "curriculum", None, words=NONE, check=_check_stages),
    Key("episodes", int, "last finished engagements that the score of a stage is taken over, from "
        "one env.time_limit after its start; with fewer there is no moving on", 2000, 1, 1_000_000,
        unit="engagements"),
)  # fmt: skip

# Of a stage itself; neither is looked at in the last one, which goes to the end of the run.
STAGE_KEYS = (
    Key("score", float, "move on at this score (win 1, draw 0.5); None = only by max_steps", None,
        0, 1, NONE),
    Key("max_steps", int, "move on after so long, whatever the score; None = only by score", None,
        1, 10**13, NONE, unit="agent decisions"),
)  # fmt: skip

SWEEP = (
    Key("method", str, "who suggests the settings of a trial: PufferLib's class of that name",
        "Protein", choices=("Protein", "ParetoGenetic", "Random")),
    Key("name", str, "name of the sweep's folder in <train.data_dir>/sweeps; None = date, time and "
        "a random suffix", None, words=NONE, check=_check_run_name),
    Key("trials", int, "how many there are, failed ones among them", 100, 1, 1_000_000),
    Key("workers", int, "trials side by side, each with its share of the cores", 1, 1, 1024),
    Key("engine", str, "where trials run: local = on this machine; ray = on the cluster of "
        "cluster.address", "local", choices=("local", "ray")),
    Key("trial_cores", int, "ray: cores that a trial takes", 1, 1, 1024),
    Key("seed", int, "seed of the suggestions and of the trials' training", 0, 0, 2**31 - 1),
    Key("max_cost", float, "longest that a trial may take: one that takes longer has failed, and "
        "Protein suggests none that it expects to", 3600.0, 1, 1e9, unit="s"),
    Key("cost", str, "what the method takes for the cost of a trial; with agent_steps a sweep by "
        "one worker repeats to the digit (Serial, CPU)", "seconds",
        choices=("seconds", "agent_steps")),
    Key("panel", str, "the pilots whose mean score is what is sought, with commas between; all = "
        "each of them", "all", check=_check_panel),
    Key("panel_episodes", int, "engagements with each of them", 512, 2, 1_000_000,
        check=check_even),
    Key("panel_seed", int, "seed of their starts and actions; no training can have it", 2**31,
        2**31, 2**63 - 1),
    Key("readings", int, "how often a trial meets the panel, at even distances, last at its end",
        4, 1, 1000),
    Key("stop_quantile", float, "a trial ends early if it scores below this quantile of what the "
        "others had after as many steps; 0 = never", 0.25, 0, 1),
    Key("stop_after", int, "finished trials before any other ends early", 8, 1, 1_000_000),
)  # fmt: skip

# Of each key that a sweep varies; the names and distributions are PufferLib's. Whether they fit
# the key is seen when a sweep begins.
SWEPT_KEYS = (
    Key("distribution", str, "how the range is divided: evenly, by powers of 2, by the logarithm, "
        "or by the logarithm of 1 - value", None, words=NONE,
        choices=("uniform", "int_uniform", "uniform_pow2", "log_normal", "logit_normal")),
    Key("min", float, "least value", None, -1e15, 1e15, NONE),
    Key("max", float, "greatest value", None, -1e15, 1e15, NONE),
    Key("mean", float, "value of the first trial (not of Random)", None, -1e15, 1e15, NONE),
    Key("scale", float, "how far from a good trial the next ones are, as a share of half the "
        "range; auto = 0.5, time = half a doubling either way", "auto", 1e-6, 2, (*AUTO, "time")),
)  # fmt: skip
