"""The C learner compared with torch: outputs, gradient in float64, steps of the optimizers."""

import copy
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from native_policies import Experience, evaluate, make

from midrange_puffer import _learner
from midrange_puffer.game.actions import HEIGHT, PLANE
from midrange_puffer.policies.actors import STD, draw
from midrange_puffer.policies.native import flattened, make_network, parts
from midrange_puffer.policies.networks import Policy
from midrange_puffer.train.optimizer import Muon
from midrange_puffer.train.torch_engine import policy_loss, value_loss

# The kinds of actions: levels, or their number if they are continuous.
KINDS = [((5, 3, 2), 3), (None, 3), ((5, 5, 3, 2), 4), (None, 4), ((8, 3, 9) * 8, 24)]
SHAPES = st.fixed_dictionaries(
    {
        "features": st.sampled_from([1, 15, 16, 71, 90]),
        "hidden_size": st.sampled_from([16, 32, 48, 64, 80, 112, 128]),
        "hidden_layers": st.integers(1, 3),
        "levels": st.sampled_from(
            [
                *(None, (5, 3, 2), (1, 1, 1), (9, 2, 4), (2, 7, 2), (5, 5, 3, 2), (1, 3, 2, 9)),
                (6, 3, 3) * 2,
            ]
        ),
        "heads": st.sampled_from([3, 4]),  # of continuous actions
        "scale": st.sampled_from([0.03, 0.1, 0.5]),  # the last makes some logits 50 apart
        "seed": st.integers(0, 99),
    }
).filter(lambda shape: shape["levels"] or shape["scale"] < 0.5)  # or means are far from all acts


@settings(max_examples=40, deadline=None)
@given(
    shape=SHAPES,
    segments=st.integers(1, 9),
    horizon=st.sampled_from([1, 3, 16, 64, 100]),
    clip=st.sampled_from([0.0, 0.05, 0.2, 3.0]),
    value_clip=st.sampled_from([0.0, 0.1, 5.0]),
    ent_coef=st.sampled_from([0.0, 0.01, 1.0]),
    share=st.sampled_from([1.0, 0.25]),
)
def test_the_gradient_is_autograds_in_float64(
    shape, segments, horizon, clip, value_clip, ent_coef, share
):
    policy = make(**shape)
    network = make_network(policy)
    network.load(flattened(policy).numpy())
    rng = np.random.default_rng(shape["seed"])
    experience = Experience(policy, segments, horizon, shape["seed"])
    rows = rng.integers(0, segments, segments)  # some twice
    size = (segments, horizon)
    # Priorities weight whole segments.
    advantages = (rng.lognormal(0, 1, (segments, 1)) * rng.normal(0, 1, size)).astype(np.float32)
    returns = (experience.values[rows] + rng.normal(0, 0.3, size)).astype(np.float32)
    before = rng.normal(0, 1, network.size).astype(np.float32)
    gradient, logprobs, values = before.copy(), *np.zeros((2, *size), np.float32)
    losses = network.gradient(
        experience.arrays(), rows, advantages, returns, (clip, value_clip, 2.0, ent_coef), share,
        gradient, logprobs, values,
    )  # fmt: skip

    exact, *single = (
        _by_torch(one, experience, rows, advantages, returns, clip, value_clip, ent_coef, share)
        for one in (copy.deepcopy(policy).double(), policy, *_neighbours(policy, 7))
    )
    judged = np.concatenate([logprobs, values], axis=1)
    # As exact as torch in float32, which is inexact for actions far from the means.
    _check(judged, exact.judged, [one.judged for one in single])
    if not exact.is_at_an_edge:
        _check(gradient - before, exact.gradient, [one.gradient for one in single], 2e-6)
    error = 8 * max(abs(one.entropy - exact.entropy) for one in single)
    assert losses["entropy"] == pytest.approx(exact.entropy, rel=1e-4, abs=max(error, 1e-5))
    # The means of log-probabilities that were compared above.
    given64 = (experience.proximal[rows], experience.values[rows], advantages, returns)
    logprobs, values, old, kept, advantages, returns = (
        torch.from_numpy(one).double() for one in (logprobs, values, *given64)
    )
    ratio = (logprobs - old).exp()
    means = {
        "policy_loss": policy_loss(ratio, advantages, clip),
        "value_loss": value_loss(values, kept, returns, value_clip),
        "importance": ratio.mean(),
    }
    floor = 1e-5 * max(1.0, (ratio * advantages).abs().mean().item())  # ratios' rounding in it
    for name, mean in means.items():
        assert losses[name] == pytest.approx(mean.item(), rel=1e-4, abs=floor), name


def _check(
    ours: np.ndarray, exact: np.ndarray, single: list[np.ndarray], least: float = 0.0
) -> None:
    """The error is hardly larger than those of torch in float32, several times.

    One rounding may be nearly all of an error, such as that of a logprob of -50 in a ratio. Two
    such errors are like two draws from one normal distribution: the first is over 8 times the
    second in 2 / pi atan(1 / 8), 8 %, of all cases. It is over 8 times each of eight others in
    E|x|^8 (2 / pi)^4 / 8^8, one of a million.
    """
    error = 8 * max(np.abs(one - exact).max() for one in single)
    error = max(error, 1e-4 * np.abs(exact).max(), least)
    np.testing.assert_allclose(ours, exact, rtol=0, atol=error)


def _neighbours(policy: Policy, count: int) -> Iterator[Policy]:
    """Yields copies whose weights are moved by about a rounding, so that all later ones differ."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(count):
        moved = copy.deepcopy(policy)
        with torch.no_grad():
            for one in moved.parameters():
                change = torch.rand(one.shape, generator=generator, dtype=torch.float64) * 2 - 1
                one.copy_(one.double() * (1 + 2**-23 * change))
        yield moved


def _by_torch(
    policy: Policy,
    experience: Experience,
    rows: np.ndarray,
    advantages: np.ndarray,
    returns: np.ndarray,
    clip: float,
    value_clip: float,
    ent_coef: float,
    share: float,
) -> SimpleNamespace:
    """Returns gradient, outputs and entropy by autograd in the policy's dtype."""
    kind = policy.critic.weight.dtype
    outputs = evaluate(policy, experience.observations[rows], experience.actions[rows], kind)
    old, kept, advantages, returns = (
        torch.from_numpy(one).to(kind)
        for one in (experience.proximal[rows], experience.values[rows], advantages, returns)
    )
    ratio = (outputs[0] - old).exp()
    loss = policy_loss(ratio, advantages, clip)
    error = value_loss(outputs[1], kept, returns, value_clip)
    total = share * (loss + 2.0 * error - ent_coef * outputs[2].mean())
    gradient = torch.autograd.grad(total, tuple(policy.parameters()))
    return SimpleNamespace(
        gradient=torch.cat([one.flatten() for one in gradient]).numpy(),
        judged=torch.cat(outputs[:2], dim=1).detach().numpy(),
        entropy=outputs[2].mean().item(),
        is_at_an_edge=_at_an_edge(ratio, outputs[1], kept, returns, clip, value_clip),
    )


def _at_an_edge(
    ratio: torch.Tensor,
    values: torch.Tensor,
    before: torch.Tensor,
    returns: torch.Tensor,
    clip: float,
    value_clip: float,
) -> bool:
    """True if rounding to float32 may move a decision across the edge of a clip."""
    change = values - before
    clipped = before + change.clamp(-value_clip, value_clip)
    errors = (values - returns).abs() - (clipped - returns).abs()
    near = ((ratio - 1).abs() - clip).abs() < 1e-4
    return bool(
        near.any()
        or ((change.abs() - value_clip).abs() < 1e-4).any()
        or ((errors.abs() < 1e-4) & (change.abs() > value_clip)).any()
    )


@pytest.mark.parametrize("isa", _learner.isas())
def test_gelu_and_its_slope_keep_their_precision_where_units_saturate(isa):
    """Both are as good as the density, whose exponent x^2 / 2 is rounded.

    A unit for each x has it as its bias, so that the gradient by the last layer's weights is GELU's
    value and that by the biases its slope.
    """
    x = np.linspace(-13, 13, 128).astype(np.float32)
    policy = make(features=1, hidden_size=len(x), hidden_layers=1, levels=(1, 1, 1))
    with torch.no_grad():
        for one in policy.parameters():
            one.zero_()
        policy.encoder[0].bias.copy_(torch.from_numpy(x))
        policy.critic.weight.fill_(1)
    network = _learner.Network(1, (len(x),), (1, 1, 1), None, STD, 1, True, isa)
    network.load(flattened(policy).numpy())
    gradient, zero = np.zeros(network.size, np.float32), np.zeros((1, 1), np.float32)
    experience = zero[..., None], np.zeros((1, 1, 3), np.int32), zero, zero
    network.gradient(
        experience, np.zeros(1, np.int64), zero, zero - 1, (0.0, 1e9, 1.0, 0.0), 1.0, gradient,
        zero.copy(), zero.copy(),
    )  # fmt: skip
    found = zip(policy.named_parameters(), parts(torch.from_numpy(gradient), policy), strict=True)
    by = {name: one.flatten().double() for (name, _), one in found}

    exact = torch.from_numpy(x).double()
    cumulative = torch.special.erfc(-exact / 2**0.5) / 2
    sloping = exact * torch.exp(-(exact**2) / 2) / (2 * torch.pi) ** 0.5
    allowed = 2**-24 * (8 + exact**2)
    gelu, slope = (by[name] / by["critic.bias"] for name in ("critic.weight", "encoder.0.bias"))
    assert ((gelu / exact - cumulative).abs() <= allowed * cumulative).all()
    assert ((slope - cumulative - sloping).abs() <= allowed * (cumulative + sloping.abs())).all()


@pytest.mark.parametrize(("levels", "heads"), KINDS)
@pytest.mark.parametrize("isa", _learner.isas())
def test_no_thread_and_no_instruction_set_makes_a_difference(levels, heads, isa):
    """Threads change no bit; instruction sets change only the rounding."""
    policy = make(levels=levels, heads=heads, hidden_size=48)
    weights = flattened(policy).numpy()
    experience = Experience(policy, segments=37, horizon=64, seed=1)
    rng = np.random.default_rng(2)
    advantages, returns = rng.normal(0, 1, (2, 37, 64)).astype(np.float32)
    shape, ranges = (999, heads), [[0, *[0.5] * (heads - 1)], [1, *[0.5] * (heads - 1)]]
    noise = (rng.normal(0, 1, shape) if levels is None else rng.random(shape)).astype("f4")
    seen = rng.uniform(-1, 1, (999, 71)).astype(np.float32)
    results = {}
    for name, threads in ((isa, 1), (isa, 2), (isa, 7), ("auto", 1)):
        network = _learner.Network(71, (48, 48), levels, ranges, STD, threads, True, name)
        network.load(weights)
        gradient, momentum, after = *np.zeros((2, network.size), np.float32), weights.copy()
        judged = np.zeros((2, 37, 64), np.float32)
        network.gradient(
            experience.arrays(), np.arange(37), advantages, returns, (0.2, 0.2, 1.0, 0.1), 1.0,
            gradient, *judged,
        )  # fmt: skip
        network.muon(after, momentum, gradient, 0.02, 0.9, 0.5)
        actions = np.zeros(shape, np.float32 if levels is None else np.int32)
        network.act(seen, noise, actions)
        results[name, threads] = [gradient, after, momentum, judged, actions]
    first = results[isa, 1]
    for threads in (2, 7):
        assert all(np.array_equal(*pair) for pair in zip(first, results[isa, threads], strict=True))
    *numbers, actions = first
    *best, others = results["auto", 1]
    for one, other in zip(numbers, best, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-6 * np.abs(other).max() + 1e-6)
    assert (np.abs(actions - others) > 1e-5).mean() < 1e-3  # a level at its edge


@pytest.mark.parametrize(("levels", "heads"), KINDS)
def test_it_draws_as_torch_does(levels, heads):
    """The same noise gives the same actions, and only their places in the buffers change."""
    policy = make(levels=levels, heads=heads)
    network = make_network(policy, learns=False)
    network.load(flattened(policy).numpy())
    torch.manual_seed(4)
    count, horizon, step = 5000, 3, 1
    seen = torch.rand(count, 71) * 2 - 1
    noise = torch.randn(count, heads) if levels is None else torch.rand(count, heads)
    with torch.no_grad():
        distribution, values = policy(seen)
        expected, logprobs = draw(distribution, noise)
    kind = np.float32 if levels is None else np.int32
    actions, drawn = np.zeros((count, heads), kind), np.full((count, horizon, heads), 7, kind)
    observations = np.full((count, horizon, 71), 7, np.float32)
    judged = np.full((4, count, horizon), 7, np.float32)
    outcomes = np.arange(count, dtype=np.float32), np.arange(count) % 3 == 0
    keep = (observations, drawn, *judged)
    network.act(seen.numpy(), noise.numpy(), actions, outcomes, keep, 0, step)
    same = np.abs(drawn[:, step] - expected.numpy()).max(axis=1) < 1e-4
    assert same.mean() > 0.999  # the others were at an edge between two levels
    assert np.array_equal(observations[:, step], seen.numpy())
    np.testing.assert_allclose(judged[0, same, step], logprobs[same], rtol=0, atol=2e-5)
    np.testing.assert_allclose(judged[1, :, step], values[:, 0], rtol=0, atol=2e-5)
    assert np.array_equal(judged[2:, :, step], outcomes)
    for kept in (observations, drawn, *judged):
        assert (np.delete(kept, step, axis=1) == 7).all()
    controls = HEIGHT if levels is None and heads == HEIGHT.count else PLANE
    low, high = controls.lowest, controls.highest
    limited = drawn[:, step] if levels else drawn[:, step].clip(low, high)
    assert np.array_equal(actions, limited)
    # Observations with additional features, and the likeliest actions, without noise.
    wide = np.concatenate([seen.numpy(), np.full((count, 9), np.nan, np.float32)], axis=1)
    network.act(wide, None, actions)
    if levels is None:
        np.testing.assert_allclose(
            actions,
            distribution.loc.detach().clip(torch.from_numpy(low), torch.from_numpy(high)),
            rtol=0,
            atol=2e-5,
        )
    else:
        likeliest = torch.stack([one.argmax(dim=1) for one in distribution], dim=1)
        assert (actions == likeliest.numpy()).mean() > 0.999


def test_levels_come_as_often_as_their_probabilities_say():
    """This includes logits that are far apart."""
    policy = make(scale=0.0)
    with torch.no_grad():
        policy.actor.bias.copy_(torch.tensor([0.0, 3, -2, 1, -40, 0, 0, 0, 60, -60]))
    network = make_network(policy, learns=False)
    network.load(flattened(policy).numpy())
    count = 200_000
    actions = np.zeros((count, 3), np.int32)
    noise = np.random.default_rng(6).random((count, 3), np.float32)
    network.act(np.zeros((count, 71), np.float32), noise, actions)
    distribution, _ = policy(torch.zeros(1, 71))
    for head, logits in enumerate(distribution):
        chances = logits.double().softmax(1).flatten().detach().numpy()
        shares = np.bincount(actions[:, head], minlength=len(chances)) / count
        error = 4 * np.sqrt(chances * (1 - chances) / count) + 1e-6
        assert (np.abs(shares - chances) <= error).all()


@pytest.mark.parametrize("kind", ["muon", "adam"])
# The first layer is wide, nearly square or tall.
@pytest.mark.parametrize("hidden_size", [16, 64, 128])
def test_64_steps_are_those_of_the_stock_optimizers(kind, hidden_size, monkeypatch):
    """Both engines' optimizers equal heavyball's Muon and torch's Adam."""
    import heavyball  # takes a second

    monkeypatch.setattr(heavyball.utils, "compile_mode", None)  # as PuffeRL does not compile
    policy = make(hidden_size=hidden_size)
    stock, lean = copy.deepcopy(policy), copy.deepcopy(policy)
    rate, betas, eps = 0.03 if kind == "muon" else 0.005, (0.95, 0.99), 1e-8
    if kind == "muon":
        optimizer = heavyball.ForeachMuon(stock.parameters(), lr=rate, betas=betas, eps=eps)
        ours = Muon(lean.parameters(), rate, betas[0])
    else:
        optimizer = torch.optim.Adam(stock.parameters(), lr=rate, betas=betas, eps=eps)
        ours = torch.optim.Adam(lean.parameters(), lr=rate, betas=betas, eps=eps)
    network = make_network(policy, threads=2)
    start = flattened(policy).numpy().copy()
    weights = start.copy()
    averages = np.zeros((2, len(weights)), np.float32)
    torch.manual_seed(3)
    drift = torch.randn(len(weights))
    for step in range(1, 65):
        gradient = 0.02 * (drift + torch.randn(len(weights)))
        for one, its in ((stock, optimizer), (lean, ours)):
            for parameter, part in zip(one.parameters(), parts(gradient, one), strict=True):
                parameter.grad = part.clone()
            torch.nn.utils.clip_grad_norm_(one.parameters(), 1.0)
            its.step()
        if kind == "muon":
            network.muon(weights, averages[0], gradient.numpy(), rate, betas[0], 1.0)
        else:
            network.adam(weights, *averages, gradient.numpy(), rate, *betas, eps, step, 1.0)
    moved = np.abs(weights - start).max()
    assert moved > 0.2
    for one in (stock, lean):
        theirs = torch.cat([parameter.detach().flatten() for parameter in one.parameters()])
        np.testing.assert_allclose(weights, theirs, rtol=0, atol=1e-5 * moved)


def test_a_child_of_fork_goes_on_alone():
    """A forked process has no threads, and gets the same results."""
    import multiprocessing

    policy = make()
    network = make_network(policy, threads=3)
    network.load(flattened(policy).numpy())
    seen = np.random.default_rng(0).random((500, 71), np.float32)
    noise = np.random.default_rng(1).random((500, 3), np.float32)
    actions = np.zeros((500, 3), np.int32)
    network.act(seen, noise, actions)

    def child(pipe: object) -> None:
        again = np.zeros_like(actions)
        network.act(seen, noise, again)
        pipe.send(np.array_equal(actions, again))

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=child, args=(there,))
    process.start()
    assert here.poll(20)
    assert here.recv()
    process.join()


def test_only_one_thread_of_python_may_use_a_network():
    policy = make(hidden_size=128)
    network = make_network(policy)
    network.load(flattened(policy).numpy())
    seen = np.zeros((20_000, 71), np.float32)
    refused, done = [], []

    def act() -> None:
        actions = np.zeros((len(seen), 3), np.int32)
        for _ in range(10):
            try:
                network.act(seen, None, actions)
                done.append(actions[0].tolist())
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=act) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert done
    assert all(one == done[0] for one in done)
    assert set(refused) <= {"the network is in use by another thread"}


def test_networks_that_share_threads_may_act_at_the_same_time():
    seen = np.random.default_rng(8).uniform(-1, 1, (2000, 71)).astype(np.float32)
    networks = [make_network(make(scale=1 + n), threads=3, learns=False) for n in range(4)]
    drawn = np.zeros((len(networks), 2, 10, len(seen), 3), np.int32)
    for number, network in enumerate(networks):
        network.load(flattened(make(scale=1 + number)).numpy())

    def act(number: int, turn: int) -> None:
        for actions in drawn[number, turn]:
            networks[number].act(seen, None, actions)

    for number in range(len(networks)):
        act(number, 0)
    together = [threading.Thread(target=act, args=(n, 1)) for n in range(len(networks))]
    for one in together:
        one.start()
    for one in together:
        one.join()
    assert np.array_equal(drawn[:, 0], drawn[:, 1])
    assert len(np.unique(drawn[:, 0, 0].reshape(len(networks), -1), axis=0)) == len(networks)


@pytest.mark.parametrize("levels", [(5, 3, 2), None])
def test_numbers_that_are_not_finite_change_their_own_decisions_only(levels):
    """Only the outputs for its own decision change, and no later calls."""
    policy = make(levels=levels)
    network = make_network(policy)
    network.load(flattened(policy).numpy())
    experience = Experience(policy, segments=3, horizon=7, seed=0)
    first, second, third = np.zeros((3, 2, 3, 7), np.float32)
    gradient = np.zeros((2, network.size), np.float32)

    def learn(to: np.ndarray, judged: np.ndarray) -> dict[str, float]:
        one = np.ones((3, 7), np.float32)
        return network.gradient(
            experience.arrays(), np.arange(3), one, one, (0.2, 0.2, 1.0, 0.1), 1.0, to, *judged
        )

    losses = learn(gradient[0], first)
    seen = experience.observations
    experience.observations = np.concatenate([seen.copy()] * 30)
    experience.observations[:, 3, 70] = np.nan
    many = [np.concatenate([one] * 30) for one in experience.arrays()[1:]]
    network.score(
        [experience.observations, *many], np.arange(90), *np.zeros((2, 90, 7), np.float32)
    )
    experience.observations = experience.observations[:3]
    losses_with_nan = learn(np.zeros(network.size, np.float32), second)
    assert np.isnan(second[:, :, 3]).all()
    others = np.arange(7) != 3
    assert np.array_equal(second[..., others], first[..., others])
    assert np.isnan([losses_with_nan["policy_loss"], losses_with_nan["value_loss"]]).all()
    experience.observations = seen
    assert learn(gradient[1], third) == losses
    assert np.array_equal(*gradient)


def test_a_logit_that_is_not_finite_makes_all_of_its_number_not_a_number():
    """Not-a-number stays visible, as in torch's softmax, so that divergence is detected."""
    policy = make(scale=0.0)
    network = make_network(policy, learns=False)
    actions = np.zeros((2, 3), np.int32)
    outcomes = np.zeros(2, "f4"), np.zeros(2, bool)
    keep = np.zeros((2, 1, 71), "f4"), np.zeros((2, 1, 3), "i4"), *np.zeros((4, 2, 1), "f4")
    for logit in range(5):
        for wrong in (np.nan, np.inf):
            with torch.no_grad():
                policy.actor.bias.zero_()
                policy.actor.bias[logit] = wrong
            network.load(flattened(policy).numpy())
            network.act(np.zeros((2, 71), np.float32), None, actions, outcomes, keep)
            assert np.isnan(keep[2]).all(), (logit, wrong)
