"""The table of every configuration key with its type, default, allowed values and meaning.

The [env] keys are not listed here: they come from the parameter table of the core.
"""

import re
from collections.abc import Callable

from midrange_puffer.config.key import AUTO, NONE, Key, check_even
from midrange_puffer.policies import pool_file
from midrange_puffer.policies.models import parse_metadata
from midrange_puffer.policies.own_code import MIDRANGE, PACKAGE, check_form


def _check_device(text: str) -> None:
    if not re.fullmatch(r"cpu|mps|cuda(:\d+)?", text):
        raise ValueError("must be auto, cpu, cuda, cuda:N or mps")


def _check_own(ours: str) -> Callable[[str], None]:
    """A check of a name that is `ours`, or of the user's own code."""

    def check(text: str) -> None:
        if text != ours:
            try:
                check_form(text)
            except ValueError as error:
                raise ValueError(
                    f"must be {ours}, or {str(error).removeprefix('must be ')}"
                ) from None

    return check


def _check_stages(text: str) -> None:
    names = [name.strip() for name in text.split(",")] if text else []
    if not all(re.fullmatch(r"\w+", name, re.ASCII) for name in names):
        raise ValueError("must be names of letters, digits and '_', separated by commas")
    if len(set(names)) < len(names):
        raise ValueError("a name is given twice")


# What an exploiter begins with and fights: random weights against the policy in training, the
# policy's own weights against it, or random weights against all of its pool.
ANEW, OWN, LEAGUE_EXPLOITER = EXPLOITERS = ("anew", "own", "league")


def _check_exploiters(text: str) -> None:
    for name in exploiters(text):
        if name not in EXPLOITERS:
            raise ValueError(
                f"{name!r} is none: must be of {', '.join(EXPLOITERS)}, separated by commas"
            )


def exploiters(text: str) -> list[str]:
    """The kinds of exploiters that population.kinds names, in their order."""
    return [name.strip() for name in text.split(",")]


def _check_panel(text: str) -> None:
    from midrange_puffer.game.parameters import pilot_names

    pilot_names(text)


def _check_run_name(text: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text) or text in ("latest", "best"):
        raise ValueError(
            "must be letters, digits, '.', '_' and '-', and neither 'latest' nor 'best'"
        )


BASE = (
    Key("env_name", str, "environment", "midrange", choices=("midrange",)),
    Key("policy_name", str, "policy: Policy = the package's MLP; module:Class or file.py:Class = "
        "one of your own, whose arguments are then the keys of [policy]",
        check=_check_own(PACKAGE)),
    Key("env_class", str, "environment: Midrange; module:Class or file.py:Class = a subclass "
        "with a reward of its own, whose arguments are then keys of [env]", MIDRANGE,
        check=_check_own(MIDRANGE)),
    Key("rnn_name", str, "recurrent wrapper of the policy: Recurrent = an LSTM. Its memory ends "
        "with the engagement; in training also after train.bptt_horizon decisions", words=NONE,
        choices=("Recurrent",)),
    Key("load_model_path", str, "a model whose weights a new run begins with: a file; a run's "
        "folder or name, RUN/best, latest or best; or `trained` (configs/default.ini, as it comes "
        "with the package); None = random weights",
        None, words=NONE),
    Key("metadata", str, "what stands in every checkpoint of the run, for whoever loads it: "
        "name=text, separated by commas", None, words=NONE, check=parse_metadata),
    Key("tag", str, "label of the run in wandb and neptune", None, words=NONE),
    Key("tensorboard", bool, "log to TensorBoard too, in the run folder", False),
    Key("wandb", bool, "log to Weights & Biases (with WANDB_MODE=offline: no network is used)",
        False),
    Key("wandb_project", str, "project in wandb", "midrange"),
    Key("wandb_group", str, "group in wandb", "debug"),
    Key("neptune", bool, "log to neptune", False),
    Key("neptune_name", str, "workspace in neptune", "midrange"),
    Key("neptune_project", str, "project in neptune", "midrange"),
)  # fmt: skip

VEC = (
    Key("backend", str, "what steps the environments: this process or worker processes; auto "
        "chooses and prints why", "auto",
        words=AUTO, choices=("Serial", "Multiprocessing", "PufferEnv")),
    Key("num_envs", int, "instances of the environment, with env.num_envs engagements each; auto = "
        "one for each worker, with env.num_envs engagements divided among them", "auto", 1, 1024,
        AUTO),
    Key("num_workers", int, "Multiprocessing: worker processes, one instance each; auto = "
        "vec.num_envs if that is given, else as many as there are cores to spare", "auto", 1, 1024,
        AUTO),
    Key("batch_size", int, "Multiprocessing: instances that the policy acts for at once, while the "
        "other instances step; auto = half of vec.num_envs", "auto", 1, 1024, AUTO),
)  # fmt: skip

CLUSTER = (
    Key("engine", str, "ray = collectors on a Ray cluster gather the experience; None = no "
        "collectors: the environments of [vec] gather it, beside the learner", None, words=NONE,
        choices=("ray",)),
    Key("address", str, "address of a running Ray cluster, host:port; auto = the one in "
        "RAY_ADDRESS; None = start a cluster on this machine, for this run alone", None,
        words=NONE),
    Key("max_collectors", int, "how many collectors there may be, a core each; fewer do the same "
        "work more slowly. auto = the cores of this machine, less one if the learner does not wait",
        "auto", 1, 4096, AUTO),
    Key("sync", str, "blocking: the learner waits for experience from its present weights; "
        "non_blocking: collecting and learning overlap, and experience is from older weights",
        "blocking", choices=("blocking", "non_blocking")),
    Key("max_policy_lag", int, "non_blocking: how old the weights may be that experience is from",
        2, 1, 1000, unit="updates"),
    Key("weight_sync_interval", int, "non_blocking: updates from one broadcast of the weights to "
        "the next", 1, 1, 1000, unit="updates"),
    Key("timeout", float, "a collector that takes longer than this for a rollout is replaced",
        60.0, 1, 1e6, unit="s"),
)  # fmt: skip

EXPERIENCE_BUFFER = (
    Key("capacity", int, "how many of the latest segments (train.bptt_horizon decisions of an "
        "agent) each rank keeps to learn from again; 0 = none: on-policy. The buffer begins empty "
        "in every stage and after a resume. With train.cpu_offload its observations are in "
        "page-locked memory", 0, 0, 10**7, unit="segments"),
    Key("warm_up", int, "segments that must be in the buffer before the first is drawn", 0, 0,
        10**7, unit="segments"),
    Key("share", float, "part of a minibatch that is drawn from the buffer", 0.25, 0.001, 0.9),
    Key("alpha", float, "exponent of the buffer's prioritised sampling; 0 = uniform", 0.6, 0.0,
        1.0),
    Key("beta0", float, "exponent of the importance correction of that sampling at the start of "
        "the run; it rises to 1 at the end", 0.4, 0.0, 1.0),
)  # fmt: skip

POLICY = (
    Key("hidden_size", int, "width of the hidden layers; for train.engine native a multiple of 16, "
        "at most 1024", 128, 1, 8192, unit="neurons"),
    Key("hidden_layers", int, "how many hidden layers there are", 2, 1, 3),
    Key("entity_size", int, "teams: features of all allies, of all enemies, of all inbound "
        "missiles and of all own ones, each; for train.engine native a multiple of 16", 32, 4, 256),
    Key("fire_bias", float, "logit of firing in a new policy; at -4 one decision in 50 fires",
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
    Key("engine", str, "what computes policy and update: native = the C learner, for an MLP in "
        "float32 on the CPU; torch = anything; auto = native where it can", "auto",
        choices=("auto", "native", "torch")),
    Key("threads", int, "threads of the native engine, and of environments that are not stepped in "
        "workers; the result does not depend on it. auto = the cores that the workers leave, at "
        "most 16", "auto", 1, 1024, AUTO),
    Key("torch_threads", int, "threads of torch on the CPU; auto = 1 with the native engine, "
        "otherwise the cores that the workers leave, and one on a machine with two cores. There a "
        "second thread makes training a fifth faster if nothing else runs, and ten times slower if "
        "something else does", "auto", 1, 1024, AUTO),
    Key("seed", int, "seed of torch, numpy, random and the engagements", minimum=0,
        maximum=2**31 - 1),
    Key("total_timesteps", int, "length of the run", minimum=1, maximum=10**13,
        unit="agent decisions"),
    Key("data_dir", str, "folder that holds the run folders"),
    Key("run_name", str, "name of the run folder; None = date, time and a random suffix", None,
        words=NONE, check=_check_run_name),
    Key("log_interval", int, "updates from one row of metrics to the next, which tells of all of "
        "them; a row also comes with every checkpoint and rating and at the end of a stage", 1, 1,
        10**9, unit="updates"),
    Key("checkpoint_interval", int, "updates from one checkpoint to the next", minimum=1,
        maximum=10**9, unit="updates"),
    Key("replay_interval", int, "updates from one set of replays to the next; a last set comes at "
        "the end. In a set the policy fights each pilot of env.opponent, or every pilot if none is "
        "there. auto = a tenth of the run, and never in the trials of a sweep; 0 = never", "auto",
        0, 10**9, AUTO, unit="updates"),
    Key("batch_size", int, "experience of one update; auto = agents x train.bptt_horizon",
        minimum=1, maximum=2**31 - 1, words=AUTO, unit="agent decisions"),
    Key("minibatch_size", int, "experience of one optimizer step", minimum=1, maximum=2**31 - 1,
        unit="agent decisions"),
    Key("max_minibatch_size", int, "most experience in one forward pass; larger minibatches "
        "accumulate gradients over several", minimum=1, maximum=2**31 - 1, unit="agent decisions"),
    Key("bptt_horizon", int, "length of a segment: decisions of one agent, one after another",
        minimum=1, maximum=65536, unit="decisions"),
    Key("update_epochs", int, "passes over the experience of an update", minimum=1, maximum=100),
    Key("optimizer", str, "optimizer", choices=("muon", "adam")),
    Key("learning_rate", float, "step size of the optimizer", minimum=1e-8, maximum=1.0),
    Key("anneal_lr", bool, "let the learning rate fall to 0 along a half cosine"),
    Key("adam_beta1", float, "decay of the gradient's mean", minimum=0.0, maximum=0.999999),
    Key("adam_beta2", float, "decay of the gradient's square", minimum=0.0, maximum=0.999999),
    Key("adam_eps", float, "term added to the denominator", minimum=1e-20, maximum=1.0),
    Key("max_grad_norm", float, "gradients are scaled down to this norm", minimum=1e-6,
        maximum=1e6),
    Key("gamma", float, "discount of each decision", minimum=0.0, maximum=1.0),
    Key("gae_lambda", float, "decay of generalised advantage estimation", minimum=0.0,
        maximum=1.0),
    Key("clip_coef", float, "clip of the policy ratio (PPO)", minimum=0.0, maximum=10.0),
    Key("vf_coef", float, "weight of the value loss", minimum=0.0, maximum=1000.0),
    Key("vf_clip_coef", float, "clip of the value's change", minimum=0.0, maximum=1000.0),
    Key("ent_coef", float, "weight of the entropy bonus", minimum=0.0, maximum=10.0),
    Key("ent_coef_final", float, "weight of the entropy bonus at the end of the run, approached "
        "linearly; None = constant", None, 0, 10, NONE),
    Key("kl_coef", float, "weight of the pull towards a reference policy: an earlier state of the "
        "policy itself, of train.kl_interval. It is a penalty on the divergence (KL) from it", 0.0,
        0, 10),
    Key("kl_interval", int, "updates from one reference policy to the next, each the policy as it "
        "is then", 100, 1, 10**9, unit="updates"),
    Key("vtrace_rho_clip", float, "V-trace: clip of the temporal difference's weight (rho)",
        minimum=0.0, maximum=1000.0),
    Key("vtrace_c_clip", float, "V-trace: clip of the trace's weight (c)", minimum=0.0,
        maximum=1000.0),
    Key("prio_alpha", float, "exponent of prioritised sampling of segments; 0 = uniform",
        minimum=0.0, maximum=1.0),
    Key("prio_beta0", float, "exponent of the importance correction of that sampling at "
        "the start", minimum=0.0,
        maximum=1.0),
    Key("precision", str, "number format of the policy; bfloat16 needs CUDA",
        choices=("float32", "bfloat16")),
    Key("torch_deterministic", bool, "deterministic algorithms in cuDNN"),
    Key("cpu_offload", bool, "keep the observations of an update in CPU memory"),
    Key("pin_memory", bool, "CUDA: lock the environments' observations into memory, so that copies "
        "to the GPU go at full speed", False),
    Key("compile", bool, "compile the policy with torch.compile"),
    Key("compile_mode", str, "mode of torch.compile",
        choices=("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")),
    Key("compile_fullgraph", bool, "refuse to compile the policy in several parts"),
)  # fmt: skip


POOL = (
    Key("size", int, "most frozen policies in the pool that the opponent `pool` is drawn from; of "
        "more checkpoints some leave, so that the others stay spread over the run", 8, 1,
        pool_file.MAX_MEMBERS),
    Key("sampling", str, "how often each is met: pfsp = more often if the learner loses to it; "
        "uniform = all equally",
        "pfsp", choices=("pfsp", "uniform")),
    Key("power", float, "pfsp: a member's weight is (1 - the learner's score against it)^power",
        2.0, 0, 100),
    Key("include", str, "model files that are in the pool from the start, separated by commas",
        None, words=NONE),
    Key("own", bool, "let the checkpoints of the run itself join the pool", True),
)  # fmt: skip

POPULATION = (
    Key("interval", int, "updates from one exploiter to the next: a policy that is trained against "
        "the policy as it is then, or against its pool, and joins that pool; 0 = none", 0, 0, 10**9,
        unit="updates"),
    Key("kinds", str, "what exploiters begin with and fight, by turns: anew = random weights "
        "against the policy; own = its weights against it; league = random weights against its "
        "pool", "anew,own,league", check=_check_exploiters),
    Key("budget", int, "longest training of an exploiter", 10_000_000, 1, 10**13,
        unit="agent decisions"),
    Key("score", float, "an exploiter is done when it scores this in training (win 1, draw 0.5)",
        0.7, 0.5, 1),
    Key("config", str, "ini file of their training", "exploit.ini"),
)  # fmt: skip

LEAGUE = (
    Key("interval", int, "updates from one rating of the policy to the next; a last one comes at "
        "the end; 0 = never", 0, 0, 10**9, unit="updates"),
    Key("games", int, "engagements with each opponent in a rating", 64, 2, 1_000_000,
        check=check_even),
    Key("checkpoints", int, "how many earlier policies of the run are met besides the pilots", 3, 0,
        1024),
)  # fmt: skip

CURRICULUM = (
    Key("stages", str, "names of the stages in their order, separated by commas; None = no "
        "curriculum", None, words=NONE, check=_check_stages),
    Key("episodes", int, "how many of the last finished engagements give the score of a stage. "
        "Those of the first env.time_limit of a stage do not count. With fewer engagements the run "
        "does not move on", 2000, 1, 1_000_000,
        unit="engagements"),
)  # fmt: skip

# Of a stage itself. The last stage goes to the end of the run and looks at neither.
STAGE_KEYS = (
    Key("score", float, "move on to the next stage at this score (win 1, draw 0.5); None = move on "
        "only by max_steps", None,
        0, 1, NONE),
    Key("max_steps", int, "move on to the next stage after this many, whatever the score; None = "
        "move on only by score", None,
        1, 10**13, NONE, unit="agent decisions"),
)  # fmt: skip

SWEEP = (
    Key("method", str, "the search method that suggests the settings of a trial: PufferLib's class "
        "of that name",
        "Protein", choices=("Protein", "ParetoGenetic", "Random")),
    Key("name", str, "name of the sweep's folder in <train.data_dir>/sweeps; None = date, time and "
        "a random suffix", None, words=NONE, check=_check_run_name),
    Key("trials", int, "how many trials there are, including failed ones", 100, 1, 1_000_000),
    Key("workers", int, "how many trials run side by side, each with its share of the cores", 1, 1,
        1024),
    Key("engine", str, "where trials run: local = on this machine; ray = on the cluster of "
        "cluster.address", "local", choices=("local", "ray")),
    Key("trial_cores", int, "ray: how many cores a trial takes", 1, 1, 1024),
    Key("seed", int, "seed of the suggestions and of the trials' training", 0, 0, 2**31 - 1),
    Key("max_cost", float, "longest that a trial may take. A trial that takes longer has failed, "
        "and Protein suggests no trial that it expects to take longer", 3600.0, 1, 1e9, unit="s"),
    Key("cost", str, "what the method takes for the cost of a trial; with agent_steps a sweep "
        "with one worker, Serial and the CPU repeats to the digit", "seconds",
        choices=("seconds", "agent_steps")),
    Key("metric", str, "what is sought: panel_score = a high mean score against the panel; "
        "worst_score = a high score against the pilot of it that is hardest for the policy; "
        "time_to_score = little time until the mean is sweep.metric_score, where a trial ends",
        "panel_score", choices=("panel_score", "worst_score", "time_to_score")),
    Key("metric_score", float, "time_to_score: the mean score against the panel that is to be "
        "reached", 0.95, 0.01, 1),
    Key("panel", str, "the pilots against which the trials are measured, separated by commas; all "
        "= every pilot", "all", check=_check_panel),
    Key("panel_episodes", int, "engagements with each pilot of the panel", 512, 2, 1_000_000,
        check=check_even),
    Key("panel_seed", int, "seed of the panel's starts and actions; no training can have it", 2**31,
        2**31, 2**63 - 1),
    Key("readings", int, "how often a trial meets the panel, at even distances; the last time is "
        "at its end",
        4, 1, 1000),
    Key("stop_quantile", float, "a trial ends early if it scores below this quantile of what other "
        "trials scored after as many steps; 0 = never", 0.25, 0, 1),
    Key("stop_after", int, "how many trials must have finished before any other ends early", 8, 1,
        1_000_000),
)  # fmt: skip

# Of each key that a sweep varies. The names and distributions are PufferLib's. When a sweep begins,
# it is checked that they fit the key.
SWEPT_KEYS = (
    Key("distribution", str, "how the range is divided: evenly, by powers of 2, by the logarithm, "
        "or by the logarithm of 1 - value", None, words=NONE,
        choices=("uniform", "int_uniform", "uniform_pow2", "log_normal", "logit_normal")),
    Key("values", str, "the values that are tried, separated by commas, in place of a distribution "
        "and its range. Only so can words, and True or False, be varied", None, words=NONE),
    Key("min", float, "least value", None, -1e15, 1e15, NONE),
    Key("max", float, "greatest value", None, -1e15, 1e15, NONE),
    Key("mean", float, "value in the first trial (Random has no such trial). That of `values` is "
        "the middle one", None, -1e15, 1e15,
        NONE),
    Key("scale", float, "how far from a good trial the next ones are, as a share of half the "
        "range; auto = 0.5; time = half a doubling up or down", "auto", 1e-6, 2, (*AUTO, "time")),
)  # fmt: skip
