"""`nash:PATH`: a mixture of models as a contestant, by the file that a league writes."""

import json
from collections import Counter
from pathlib import Path

import frozen
import numpy as np
import pytest

from midrange_puffer.commands import cli
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.errors import UsageError
from midrange_puffer.policies.contestants import load_mix
from midrange_puffer.policies.mix import NashMember, parse_mix, write_nash

GAME = {"time_limit": 5.0}


@pytest.fixture
def mixture(tmp_path) -> Path:
    """The file of a mixture of two models, the second in a folder beside it."""
    (tmp_path / "other").mkdir()
    for place, name in enumerate(("first.pt", "other/second.pt")):
        frozen.save(tmp_path / name, frozen.constant(place))
    path = tmp_path / "nash.json"
    write_nash(path, [NashMember("first.pt", 0.25), NashMember("other/second.pt", 0.75)])
    return path


def test_it_stands_for_its_models_with_their_shares(mixture):
    shares = parse_mix(f"nash:{mixture}:3,ace:1")
    folder = mixture.parent
    assert shares == pytest.approx(
        {f"file:{folder}/first.pt": 0.1875, f"file:{folder}/other/second.pt": 0.5625, "ace": 0.25}
    )
    assert parse_mix(f"nash:{folder}") == parse_mix(f"nash:{mixture}")  # the file in a folder
    assert [one.name for one in load_mix(f"nash:{mixture}").outsiders] == ["first", "second"]


def test_it_is_fought_where_any_mix_is(mixture):
    found = evaluate(f"nash:{mixture}", "straight", 20, **GAME)
    assert found["win"] + found["draw"] + found["loss"] == pytest.approx(1)
    env = Midrange(num_envs=400, opponent=f"nash:{mixture}:3,straight", seed=1, **GAME)
    env.reset()
    met = Counter()
    for _ in range(30):
        *_, infos = env.step(np.zeros((400, 3), np.int32))
        for info in infos:
            met.update({name: len(of) for name, of in info.items() if "_vs_" in name})
    assert {name.rpartition("_vs_")[2] for name in met} >= {"first", "second"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content | {"format": "x"}, "format = 'x'"),
        (lambda content: content | {"members": []}, r"members = \[\]"),
        (lambda content: content | {"members": [{"path": "a.pt", "weight": 2}]}, "weight = 2"),
        (lambda content: [], "damaged"),
    ],
)
def test_a_damaged_file_is_refused(mixture, change, message):
    mixture.write_text(json.dumps(change(json.loads(mixture.read_text()))))
    with pytest.raises(UsageError, match=message):
        parse_mix(f"nash:{mixture}")


def test_without_a_file_it_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"nash\.json: No such file.*league --nash writes"):
        parse_mix(f"nash:{tmp_path}")


def test_a_league_writes_it(tmp_path, capsys):
    """One who always turns and one who never does draw, so that any shares would do."""
    for name, place in (("first", 0), ("second", 1)):
        frozen.save(tmp_path / f"{name}.pt", frozen.constant(place))
    models = [str(tmp_path / f"{name}.pt") for name in ("first", "second")]
    path = tmp_path / "made.json"
    words = ["--pilots", "none", "--games", "4", "--env.time-limit", "5", "--nash", str(path)]
    assert cli.run("league", [*models, *words]) == 0
    assert "Nash mixture of the models: first" in capsys.readouterr().out
    assert sum(parse_mix(f"nash:{path}").values()) == pytest.approx(1)
    with pytest.raises(UsageError, match="--nash: is a mixture of models, and none takes part"):
        cli.run("league", ["--games", "2", "--nash", str(path)])
