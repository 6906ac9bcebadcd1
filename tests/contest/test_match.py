"""Fights: each engagement is flown once, to its end, independently of other fights."""

import numpy as np
import pytest
from policies import Constant, random_policy

from midrange_puffer import Simulation
from midrange_puffer.contest.match import Fight, meet, play, round_robin, tally
from midrange_puffer.contest.ratings import score_interval
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PILOTS, resolve
from midrange_puffer.game.records import outcomes
from midrange_puffer.policies.contestants import load_contestant

NEAR = resolve({"time_limit": 60, "start_range_min": 15_000, "start_range_max": 25_000})
MEMORY = ("Recurrent", {"input_size": 16, "hidden_size": 16})


@pytest.mark.parametrize(
    "contestants", [("shooter", "evader"), ("crank", "snake"), ("snake", "ace")]
)
def test_pilots_fight_as_in_a_simulation(contestants):
    num = 20
    [records] = play([Fight(*contestants)], num, seed=4, parameters=NEAR)
    sim = Simulation(num, 4, *contestants, **NEAR)
    decisions = np.zeros(num, int)
    while (sim.outcome == 0).any():
        decisions += sim.outcome == 0
        sim.step()
    assert records["env"].tolist() == list(range(num))
    np.testing.assert_array_equal(records["outcome"], sim.outcome)
    np.testing.assert_array_equal(records["decisions"], decisions)
    assert len(set(sim.outcome)) > 1
    for seat in (0, 1):
        assert (outcomes(records, seat)["win"] == (sim.outcome == 1 + seat)).all()
        assert (outcomes(records, seat)["loss"] == (sim.outcome == 2 - seat)).all()
        assert (outcomes(records, seat)["draw"] == (sim.outcome == 3)).all()


def test_fights_beside_each_other_go_as_each_alone():
    """All have the same starts; one with a memory flies in three of them, in both seats; greedy."""
    who, other = random_policy(*MEMORY), random_policy(seed=5)
    fights = [Fight(who, "shooter"), Fight("evader", who), Fight(other, who)]
    fights += [Fight("ace", "snake")] * 2
    together = play(fights, 12, 3, greedy=True, parameters=NEAR)
    for fight, records in zip(fights, together, strict=True):
        [alone] = play([fight], 12, 3, greedy=True, parameters=NEAR)
        np.testing.assert_array_equal(records, alone)
    shots = [int(records["shots"].sum()) for records in together]
    assert min(shots) > 0


def test_equal_seeds_give_equal_fights_and_others_do_not():
    fights = [Fight(random_policy(), "snake"), Fight("crank", random_policy(seed=5))]
    first, again, other = (play(fights, 12, seed, parameters=NEAR) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert any((a["decisions"] != b["decisions"]).any() for a, b in zip(first, other, strict=True))


def test_a_mix_flies_in_its_shares():
    [records] = play([Fight("straight", "shooter:1,evader:3")], 400, parameters=NEAR)
    names = [PILOTS[index - 1] for index in records["pilot"][:, 1]]
    assert set(names) == {"shooter", "evader"}
    assert names.count("evader") == pytest.approx(300, abs=4 * np.sqrt(400 * 3 / 16))


@pytest.mark.parametrize("name", ["self", "pool", "ace:1,self:2", "acee"])
def test_only_pilots_and_policies_can_fight(name):
    with pytest.raises(ValueError, match="opponent = "):
        play([Fight("ace", name)], 2, parameters=NEAR)


@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        ("trained", {"red_size": 2}, "trained is of one against one: it cannot fly in a team"),
        ("champion:radar", {}, "champion:radar is of sensing = radar: it cannot fly"),
        ("trained,champion:radar", {}, "champion:radar is of sensing = radar: it cannot fly"),
        ("champion:radar,trained", {"sensing": "radar"}, "trained is of sensing = full"),
        ("trained,ace,champion:team2", {}, "champion:team2 is of a team: it cannot fly one"),
        ("trained", {"dimensions": 3}, "trained is of dimensions = 2: it cannot fly"),
    ],
)
def test_the_policy_that_does_not_fit_the_game_is_named(text, game, message):
    with pytest.raises(UsageError, match=f"^{message}"):
        play([Fight("ace", load_contestant(text))], 2, parameters=resolve(game, teams=True))


def test_progress_counts_every_engagement_once():
    seen = []
    fights = [Fight("ace", "crank"), Fight(Constant(), "straight")]
    play(fights, 30, progress=seen.append, parameters=NEAR)
    assert sum(seen) == 60


def test_starts_are_fought_in_both_seats():
    """Two of the same kind then win equally often, though some starts favour one side."""
    players = {"one": "evader", "other": "evader"}
    [result] = meet([("one", "other")], players, 80, parameters=NEAR)
    assert result.wins == result.losses > 0
    [records] = play([Fight("evader", "evader")], 40, parameters=NEAR)
    assert 2 * result.wins == 2 * int((records["outcome"] != 3).sum())
    assert result.draws == 2 * int((records["outcome"] == 3).sum())


def test_a_favourable_start_shows_in_the_covariance():
    """Between two of the same kind, what one loses from a start the other wins: all varies not."""
    [records] = play([Fight("evader", "evader")], 40, parameters=NEAR)
    wins, draws, losses, covariance = tally(records, records)
    points = wins / 4 + losses / 4  # the sum of the squared distances from a half
    assert 0 < wins == losses
    assert covariance == pytest.approx(-points / 2)
    low, high = score_interval(wins, draws, losses, covariance)
    apart_low, apart_high = score_interval(wins, draws, losses, 0.0)
    assert high - low < 0.5 * (apart_high - apart_low)


@pytest.mark.parametrize("games", [0, 7])
def test_games_are_divided_between_the_seats(games):
    with pytest.raises(ValueError, match=f"games = {games}: must be an even number"):
        meet([("ace", "snake")], {"ace": "ace", "snake": "snake"}, games, parameters=NEAR)


def test_everybody_meets_everybody_once():
    players = {"a": "ace", "b": "shooter", "c": Constant(), "d": Constant(fire=0)}
    results = round_robin(players, 10, parameters=NEAR)
    pairs = {frozenset((result.first, result.second)) for result in results}
    assert len(results) == len(pairs) == 6
    assert all(result.wins + result.draws + result.losses == 10 for result in results)
