"""The table of the configuration's keys: type, default, allowed values and meaning of each.

A class is a section, a field is a key: `config.train.gamma` is of the type that stands here. The
[env] keys come from the parameter table of the core instead, and those of [sweep] are in
sweep_sections.py. Before `settle`, a key with the words AUTO may also hold "auto", which the type
of its field leaves out.
"""

from dataclasses import dataclass
from typing import Any, Literal

from midrange_puffer.config.exploiter_kinds import EXPLOITERS, exploiters
from midrange_puffer.config.key import AUTO, Auto, Entry, Section, Typed, check_even, key, keys_of
from midrange_puffer.config.text_checks import check_device, check_own, check_run_name, check_stages
from midrange_puffer.game.critic_views import CriticKind
from midrange_puffer.policies import pool_file
from midrange_puffer.policies.models import parse_metadata
from midrange_puffer.policies.own_code import MIDRANGE, PACKAGE, PACKAGED

CompileMode = Literal["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]


class EnvConfig(Section[Any]):
    """[env]: the parameters of the core and the options of the environment.

    The attributes are those that the code above the core reads. All are items, as are the arguments
    of an environment class of the user's own.
    """

    num_envs = Entry[int]()
    opponent = Entry[str]()
    seat = Entry[str]()
    observation = Entry[str]()
    action_mode = Entry[str]()
    agents = Entry[str]()
    subordinates = Entry[str]()
    sensing = Entry[str]()
    red_size = Entry[int]()
    blue_size = Entry[int]()


def _check_exploiters(text: str) -> None:
    from midrange_puffer.game.parameters import PARAMETERS

    draw = PARAMETERS["reward_draw"]
    for kind in exploiters(text):
        if kind.start not in EXPLOITERS:
            raise ValueError(
                f"{kind.start!r} is none: must be of {', '.join(EXPLOITERS)}, separated by commas"
            )
        if kind.draw is not None and not draw.minimum <= kind.draw <= draw.maximum:
            raise ValueError(f"{kind}: a draw must pay from {draw.minimum:g} to {draw.maximum:g}")
        for name, key_name in (("entropy", "ent_coef"), ("rate", "learning_rate")):
            value = getattr(kind, name)
            if value is None:
                continue
            try:
                keys_of(TrainConfig)[key_name].parse(str(value))
            except ValueError as error:
                raise ValueError(f"{kind}: {name} {value:g}: {error}") from None


# fmt: off
class BaseConfig(Typed):
    """[base]: the policy and environment of a run, and where it is logged."""

    env_name: Literal["midrange"] = key("midrange", meaning="environment")
    policy_name: str = key(PACKAGE, check=check_own(*PACKAGED), meaning=
        "policy: Policy = the package's MLP; Attention = the MLP with attention to the last "
        "decisions; module:Class or file.py:Class = one of your own, whose arguments are then the "
        "keys of [policy]")
    env_class: str = key(MIDRANGE, check=check_own(MIDRANGE), meaning=
        "environment: Midrange; module:Class or file.py:Class = a subclass with a reward of its "
        "own, whose arguments are then keys of [env]")
    rnn_name: Literal["Recurrent"] | None = key(None, meaning=
        "recurrent wrapper of the policy: Recurrent = an LSTM. Its memory ends with the "
        "engagement; in training also after train.bptt_horizon decisions")
    load_model_path: str | None = key(None, meaning=
        "a model whose weights a new run begins with: a file; a run's folder or name, RUN/best, "
        "latest or best; or `trained` (configs/default.ini, as it comes with the package); None = "
        "random weights")
    metadata: str | None = key(None, check=parse_metadata, meaning=
        "what stands in every checkpoint of the run, for whoever loads it: name=text, separated "
        "by commas")
    tag: str | None = key(None, meaning="label of the run in wandb and neptune")
    tensorboard: bool = key(False, meaning="log to TensorBoard too, in the run folder")
    wandb: bool = key(False, meaning=
        "log to Weights & Biases (with WANDB_MODE=offline: no network is used)")
    wandb_project: str = key("midrange", meaning="project in wandb")
    wandb_group: str = key("debug", meaning="group in wandb")
    neptune: bool = key(False, meaning="log to neptune")
    neptune_name: str = key("midrange", meaning="workspace in neptune")
    neptune_project: str = key("midrange", meaning="project in neptune")


class VecConfig(Typed):
    """[vec]: how the environments are stepped."""

    backend: Literal["Serial", "Multiprocessing", "PufferEnv"] = key("auto", words=AUTO, meaning=
        "what steps the environments: this process or worker processes; auto chooses and prints "
        "why")
    num_envs: int = key("auto", minimum=1, maximum=1024, words=AUTO, meaning=
        "instances of the environment, with env.num_envs engagements each; auto = one for each "
        "worker, with env.num_envs engagements divided among them")
    num_workers: int | Auto = key("auto", minimum=1, maximum=1024, meaning=
        "Multiprocessing: worker processes, which share the instances evenly; auto = one for "
        "each instance if vec.num_envs is given, else as many as there are cores to spare")
    batch_size: int | Auto = key("auto", minimum=1, maximum=1024, meaning=
        "Multiprocessing: instances that the policy acts for at once, while the other instances "
        "step; auto = half of vec.num_envs, or the next smaller number that divides it")


class ClusterConfig(Typed):
    """[cluster]: collectors on a Ray cluster."""

    engine: Literal["ray"] | None = key(None, meaning=
        "ray = collectors on a Ray cluster gather the experience; None = no collectors: the "
        "environments of [vec] gather it, beside the learner")
    address: str | None = key(None, meaning=
        "address of a running Ray cluster, host:port; auto = the one in RAY_ADDRESS; None = start "
        "a cluster on this machine, for this run alone")
    max_collectors: int = key("auto", minimum=1, maximum=4096, words=AUTO, meaning=
        "how many collectors there may be, a core each; fewer do the same work more slowly. auto "
        "= the cores of this machine, less one if the learner does not wait")
    sync: Literal["blocking", "non_blocking"] = key("blocking", meaning=
        "blocking: the learner waits for experience from its present weights; non_blocking: "
        "collecting and learning overlap, and experience is from older weights")
    max_policy_lag: int = key(2, minimum=1, maximum=1000, unit="updates", meaning=
        "non_blocking: how old the weights may be that experience is from")
    weight_sync_interval: int = key(1, minimum=1, maximum=1000, unit="updates", meaning=
        "non_blocking: updates from one broadcast of the weights to the next")
    timeout: float = key(60.0, minimum=1, maximum=1e6, unit="s", meaning=
        "a collector that takes longer than this for a rollout is replaced")


class ExperienceBufferConfig(Typed):
    """[experience_buffer]: earlier experience that is learnt from again."""

    capacity: int = key(0, minimum=0, maximum=10**7, unit="segments", meaning=
        "how many of the latest segments (train.bptt_horizon decisions of an agent) each rank "
        "keeps to learn from again; 0 = none: on-policy. The buffer begins empty in every stage "
        "and, unless it is shared, after a resume. With train.cpu_offload its observations are in "
        "page-locked memory")
    warm_up: int = key(0, minimum=0, maximum=10**7, unit="segments", meaning=
        "segments that must be in the buffer before the first is drawn")
    on_disk: bool = key(False, meaning=
        "keep the observations in a file of the run's folder that the system maps into memory, for "
        "buffers larger than the memory; the file vanishes with the run's process")
    shared: bool = key(False, meaning=
        "keep it in an actor of the Ray cluster at cluster.address, which outlives the learner: a "
        "run that is resumed goes on with the segments that are there")
    share: float = key(0.25, minimum=0.001, maximum=0.9, meaning=
        "part of a minibatch that is drawn from the buffer")
    alpha: float = key(0.6, minimum=0.0, maximum=1.0, meaning=
        "exponent of the buffer's prioritised sampling; 0 = uniform")
    beta0: float = key(0.4, minimum=0.0, maximum=1.0, meaning=
        "exponent of the importance correction of that sampling at the start of the run; it rises "
        "to 1 at the end")


class PolicyConfig(Typed):
    """[policy]: the arguments of the package's own policy."""

    hidden_size: int = key(128, minimum=1, maximum=8192, unit="neurons", meaning=
        "width of the hidden layers; for train.engine native a multiple of 16, at most 1024")
    hidden_layers: int = key(2, minimum=1, maximum=3, meaning="how many hidden layers there are")
    entity_size: int = key(32, minimum=4, maximum=256, meaning=
        "teams: features of all allies, of all enemies, of all inbound missiles and of all own "
        "ones, each; for train.engine native a multiple of 16")
    parameter_sharing: bool = key(True, meaning=
        "env.agents = side: the fighters share the weights of their commander's network, in which "
        "the maximum over their encodings summarises the side; false = an MLP over all features "
        "of the side")
    fire_bias: float = key(-4.0, minimum=-20, maximum=20, meaning=
        "logit of firing in a new policy; at -4 one decision in 50 fires")


class AttentionConfig(PolicyConfig):
    """[policy] with base.policy_name = Attention."""

    hidden_size: int = key(64, minimum=1, maximum=1024, unit="neurons", meaning=
        "width of the hidden layers and of the transformer block; a multiple of policy.heads")
    heads: int = key(4, minimum=1, maximum=64, meaning="attention heads")
    decisions: int = key(32, minimum=2, maximum=1024, meaning=
        "decisions that each attends to, itself included; in training at most "
        "train.bptt_horizon have an effect")


class RnnConfig(Typed):
    """[rnn]: the LSTM of a recurrent policy."""

    input_size: int = key("auto", minimum=1, maximum=8192, words=AUTO, unit="neurons", meaning=
        "width of the LSTM's input; auto = policy.hidden_size, the only choice with the "
        "package's policies")
    hidden_size: int = key("auto", minimum=1, maximum=8192, words=AUTO, unit="neurons", meaning=
        "width of the LSTM's state; auto = policy.hidden_size, the only choice with the "
        "package's policies")


class TrainConfig(Typed):
    """[train]: the trainer."""

    device: str = key("auto", words=AUTO, check=check_device, meaning=
        "where the policy learns (cpu, cuda, cuda:N, mps); auto = cuda if there "
        "is one and the native engine on the CPU would not be faster, else cpu")
    engine: Literal["auto", "native", "torch"] = key("auto", meaning=
        "what computes policy and update: native = the C learner, for an MLP in float32 on the "
        "CPU; torch = anything; auto = native where it can")
    threads: int = key("auto", minimum=1, maximum=1024, words=AUTO, meaning=
        "threads of the native engine, and of environments that are not stepped in workers; the "
        "result does not depend on it. auto = the cores that the workers leave, at most 16")
    torch_threads: int = key("auto", minimum=1, maximum=1024, words=AUTO, meaning=
        "threads of torch on the CPU; auto = 1 with the native engine, otherwise the cores that "
        "the workers leave, and one on a machine with two cores. There a second thread makes "
        "training a fifth faster if nothing else runs, and ten times slower if something else "
        "does")
    seed: int = key(42, minimum=0, maximum=2**31 - 1, meaning=
        "seed of torch, numpy, random and the engagements")
    total_timesteps: int = key(10_000_000, minimum=1, maximum=10**13, unit="agent decisions",
        meaning=
        "length of the run")
    data_dir: str = key("experiments", meaning="folder that holds the run folders")
    run_name: str | None = key(None, check=check_run_name, meaning=
        "name of the run folder; None = date, time and a random suffix")
    log_interval: int = key(1, minimum=1, maximum=10**9, unit="updates", meaning=
        "updates from one row of metrics to the next, which tells of all of them; a row also "
        "comes with every checkpoint and rating and at the end of a stage")
    checkpoint_interval: int = key(200, minimum=1, maximum=10**9, unit="updates", meaning=
        "updates from one checkpoint to the next")
    replay_interval: int = key("auto", minimum=0, maximum=10**9, words=AUTO, unit="updates",
        meaning=
        "updates from one set of replays to the next; a last set comes at the end. In a set the "
        "policy fights each pilot of env.opponent, or every pilot if none is there. auto = a "
        "tenth of the run, and never in the trials of a sweep; 0 = never")
    batch_size: int = key("auto", minimum=1, maximum=2**31 - 1, words=AUTO, unit="agent decisions",
        meaning=
        "experience of one update; auto = agents x train.bptt_horizon")
    minibatch_size: int = key(8192, minimum=1, maximum=2**31 - 1, unit="agent decisions", meaning=
        "experience of one optimizer step")
    max_minibatch_size: int = key(32768, minimum=1, maximum=2**31 - 1, unit="agent decisions",
        meaning=
        "most experience in one forward pass; larger minibatches accumulate gradients over "
        "several")
    bptt_horizon: int = key(64, minimum=1, maximum=65536, unit="decisions", meaning=
        "length of a segment: decisions of one agent, one after another")
    update_epochs: int = key(1, minimum=1, maximum=100, meaning=
        "passes over the experience of an update")
    critic: CriticKind = key("own", meaning=
        "what values are estimated from: own = the agent's own observation, by a layer on the "
        "policy's hidden features; side = the observations of all fighters of its side (MAPPO); "
        "truth = with sensors, its own observation and that with full information. side and truth "
        "are a network of its own, which only training uses: models have no part of it")
    optimizer: Literal["muon", "adam"] = key("muon", meaning="optimizer")
    learning_rate: float = key(0.015, minimum=1e-8, maximum=1.0, meaning=
        "step size of the optimizer")
    anneal_lr: bool = key(True, meaning="let the learning rate fall to 0 along a half cosine")
    adam_beta1: float = key(0.95, minimum=0.0, maximum=0.999999, meaning=
        "decay of the gradient's mean")
    adam_beta2: float = key(0.999, minimum=0.0, maximum=0.999999, meaning=
        "decay of the gradient's square")
    adam_eps: float = key(1e-12, minimum=1e-20, maximum=1.0, meaning=
        "term added to the denominator")
    max_grad_norm: float = key(1.5, minimum=1e-6, maximum=1e6, meaning=
        "gradients are scaled down to this norm")
    gamma: float = key(0.995, minimum=0.0, maximum=1.0, meaning="discount of each decision")
    gae_lambda: float = key(0.90, minimum=0.0, maximum=1.0, meaning=
        "decay of generalised advantage estimation")
    clip_coef: float = key(0.2, minimum=0.0, maximum=10.0, meaning="clip of the policy ratio (PPO)")
    vf_coef: float = key(2.0, minimum=0.0, maximum=1000.0, meaning="weight of the value loss")
    vf_clip_coef: float = key(0.2, minimum=0.0, maximum=1000.0, meaning=
        "clip of the value's change")
    ent_coef: float = key(0.001, minimum=0.0, maximum=10.0, meaning="weight of the entropy bonus")
    ent_coef_final: float | None = key(None, minimum=0, maximum=10, meaning=
        "weight of the entropy bonus at the end of the run, approached linearly; None = constant")
    kl_coef: float = key(0.0, minimum=0, maximum=10, meaning=
        "weight of the pull towards a reference policy: an earlier state of the policy itself, of "
        "train.kl_interval. It is a penalty on the divergence (KL) from it")
    kl_interval: int = key(100, minimum=1, maximum=10**9, unit="updates", meaning=
        "updates from one reference policy to the next, each the policy as it is then")
    vtrace_rho_clip: float = key(1.0, minimum=0.0, maximum=1000.0, meaning=
        "V-trace: clip of the temporal difference's weight (rho)")
    vtrace_c_clip: float = key(1.0, minimum=0.0, maximum=1000.0, meaning=
        "V-trace: clip of the trace's weight (c)")
    prio_alpha: float = key(0.8, minimum=0.0, maximum=1.0, meaning=
        "exponent of prioritised sampling of segments; 0 = uniform")
    prio_beta0: float = key(0.2, minimum=0.0, maximum=1.0, meaning=
        "exponent of the importance correction of that sampling at the start")
    precision: Literal["float32", "bfloat16", "float16"] = key("float32", meaning=
        "number format in which the policy is computed; the others need CUDA. float16 is for GPUs "
        "without bfloat16; its loss is scaled, and the scale is found anew after a resume")
    tf32: bool = key(True, meaning=
        "CUDA: multiply matrices of float32 in TensorFloat-32, faster and to 3 digits")
    torch_deterministic: bool = key(True, meaning="deterministic algorithms in cuDNN")
    cpu_offload: bool = key(False, meaning="keep the observations of an update in CPU memory")
    pin_memory: bool = key(False, meaning=
        "CUDA: lock the environments' observations into memory, so that copies to the GPU go at "
        "full speed")
    compile: bool = key(False, meaning="compile the policy with torch.compile")
    compile_mode: CompileMode = key("max-autotune-no-cudagraphs", meaning=
        "mode of torch.compile; max-autotune… searches for minutes on a GPU, default does not")
    compile_fullgraph: bool = key(True, meaning="refuse to compile the policy in several parts")


class PoolConfig(Typed):
    """[pool]: the frozen policies that the opponent `pool` is drawn from."""

    size: int = key(8, minimum=1, maximum=pool_file.MAX_MEMBERS, meaning=
        "most frozen policies in the pool that the opponent `pool` is drawn from; of more "
        "checkpoints some leave, so that the others stay spread over the run")
    sampling: Literal["pfsp", "uniform"] = key("pfsp", meaning=
        "how often each is met: pfsp = more often if the learner loses to it; uniform = all "
        "equally")
    power: float = key(2.0, minimum=0, maximum=100, meaning=
        "pfsp: a member's weight is (1 - the learner's score against it)^power")
    include: str | None = key(None, meaning=
        "model files that are in the pool from the start, separated by commas")
    own: bool = key(True, meaning="let the checkpoints of the run itself join the pool")


class PopulationConfig(Typed):
    """[population]: the exploiters of a run."""

    interval: int = key(0, minimum=0, maximum=10**9, unit="updates", meaning=
        "updates from one exploiter to the next: a policy that is trained against the policy as "
        "it is then, or against its pool, and joins that pool; 0 = none")
    kinds: str = key("anew,own,league", check=_check_exploiters, meaning=
        "what exploiters begin with and fight, by turns: anew = random weights against the "
        "policy; own = its weights against it; league = random weights against its pool; "
        "strongest = the weights of the exploiter in the pool that it does worst against (its own "
        "before there is one), against it. With numbers, as own:-0.5:0.001:0.006, their "
        "env.reward_draw, train.ent_coef and train.learning_rate")
    budget: int = key(10_000_000, minimum=1, maximum=10**13, unit="agent decisions", meaning=
        "longest training of an exploiter")
    score: float = key(0.7, minimum=0.5, maximum=1, meaning=
        "an exploiter is done when it scores this in training (win 1, draw 0.5)")
    config: str = key("exploit.ini", meaning="ini file of their training")


class LeagueConfig(Typed):
    """[league]: ratings of the policy in training."""

    interval: int = key(0, minimum=0, maximum=10**9, unit="updates", meaning=
        "updates from one rating of the policy to the next; a last one comes at the end; 0 = "
        "never")
    games: int = key(64, minimum=2, maximum=1_000_000, check=check_even, meaning=
        "engagements with each opponent in a rating")
    checkpoints: int = key(3, minimum=0, maximum=1024, meaning=
        "how many earlier policies of the run are met besides the pilots")


class CurriculumConfig(Typed):
    """[curriculum]: the stages of a run."""

    stages: str | None = key(None, check=check_stages, meaning=
        "names of the stages in their order, separated by commas; None = no curriculum")
    episodes: int = key(2000, minimum=1, maximum=1_000_000, unit="engagements", meaning=
        "how many of the last finished engagements give the score of a stage. Those of the first "
        "env.time_limit of a stage do not count. With fewer engagements the run does not move on")


@dataclass(frozen=True)
class Stage:
    """[curriculum.<stage>]: the end of a stage. The last stage lasts to the end of the run."""

    score: float | None = key(None, minimum=0, maximum=1, meaning=
        "move on to the next stage at this score (win 1, draw 0.5); None = move on only by "
        "max_steps")
    max_steps: int | None = key(None, minimum=1, maximum=10**13, unit="agent decisions", meaning=
        "move on to the next stage after this many, whatever the score; None = move on only by "
        "score")


# fmt: on
