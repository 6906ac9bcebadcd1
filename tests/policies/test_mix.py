"""Mixes of opponents as text: their meaning, their names, refusals, and Nash mixtures."""

import json
import re
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
from midrange_puffer.policies.mix import (
    FIGHTERS,
    FUNCTION,
    MODEL,
    OTHERS,
    RUN,
    NashMember,
    count_agents,
    divide,
    kind_of,
    parse_mix,
    settled,
    short_names,
    title,
    write_nash,
)

GAME = {"time_limit": 5.0}


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("ace", {"ace": 1}),
        ("shooter:1,ace:3", {"shooter": 0.25, "ace": 0.75}),
        ("trained", {"trained": 1}),
        ("trained:selfplay:3,trained", {"trained:selfplay": 0.75, "trained": 0.25}),
        ("file:a/b.onnx:2,m.fly:x:2", {"file:a/b.onnx": 0.5, "m.fly:x": 0.5}),
        ("a/b.pt, my file.py:fly : 3", {"a/b.pt": 0.25, "my file.py:fly": 0.75}),
        ("self:2,pool,latest:1", {"self": 0.5, "pool": 0.25, "latest": 0.25}),
        ("run7/best,ace:0.5,ace.pt:.5", {"run7/best": 0.5, "ace": 0.25, "ace.pt": 0.25}),
    ],
)
def test_shares(text, shares):
    assert parse_mix(text) == shares


def test_a_file_is_meant_whatever_signs_its_path_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a,b:2.pt", "no suffix", "ace"):
        Path(name).touch()
    assert parse_mix("a,b:2.pt") == {"a,b:2.pt": 1}
    assert kind_of("no suffix") == kind_of("file:gone") == MODEL
    assert kind_of("ace") == "pilots"  # whatever files there are


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trained,trained", "trained is given twice"),
        ("trained:0", "the weight of trained must be above 0"),
        ("shooter:fly", "the weight of shooter must be above 0"),
        ("trained:selfpaly", "did you mean 'trained:selfplay'"),
        ("trainde", "'trainde' is none of .*did you mean 'trained'.*or a function, module:name"),
        ("self", "'self' is none of .*; self is taken by Midrange and in training"),
        ("ace,pool:2", "'pool' is none of .*; pool is taken in training"),
        ("latest", "'latest' is none of .*; latest is taken by the command line"),
        ("human,ace", "'human' is none of .*; human is taken by play"),
    ],
)
def test_the_error_of_a_refused_mix_says_why(text, message):
    with pytest.raises(ValueError, match=message):
        parse_mix(text, FIGHTERS)


def test_models_and_functions_are_a_group_of_engagements():
    text = "self:2,ace:1,trained:1,m:fly:4"
    assert divide(64, text) == {"self": 16, "pilots": 8, OTHERS: 40}
    assert (
        count_agents(
            {"num_envs": 64, "opponent": text, "seat": "red", "red_size": 1, "blue_size": 1}
        )
        == 80
    )
    with pytest.raises(
        ValueError, match="at least 3 engagements, one for each of self, pilots, mod"
    ):
        divide(2, text)


def test_settled_is_the_same_from_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    model = tmp_path / "run" / "model_000003.pt"
    model.touch()
    runs = {"run": model, "latest": model, "named": model}
    text = "ace:2,f.py:fly:3,m:fly,x/y.pt:2,trained:selfplay,named"
    whole = (
        f"ace:2,{tmp_path}/f.py:fly:3,m:fly,file:{tmp_path}/x/y.pt:2,trained:selfplay,file:{model}"
    )
    assert settled(text, runs.get) == whole
    assert settled(whole, {}.get) == whole
    assert settled("run:2,ace", runs.get) == settled("latest:2,ace", runs.get)
    assert settled(" ace : 1 ", runs.get) == " ace : 1 "
    model.unlink()  # what it is called says that it is a file
    assert list(parse_mix(whole).values())[-1] == pytest.approx(1 / 10)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["a/b.pt", "trained", "m.n:fly"], ["b", "trained", "fly"]),
        (["a/b.pt", "c/b.pt"], ["a/b", "c/b"]),
        (["a/b.pt", "f.py:fly"], ["b", "fly"]),
        (["x/f.py:fly", "g:fly"], ["f.fly", "g.fly"]),
        (["a/ace.pt"], ["a/ace"]),
        (["f:ace"], ["f.ace"]),
        (["a/b.pt", "a/b.onnx"], ["a/b.pt", "a/b.onnx"]),
    ],
)
def test_short_names_tell_all_apart(names, short):
    assert list(short_names(names).values()) == short


def test_a_title_has_no_folders():
    assert title("file:/a/b.pt:2,ace,/x/f.py:fly") == "b:2,ace,fly"


def test_a_folder_is_a_run(tmp_path):
    assert kind_of(str(tmp_path)) == RUN
    assert kind_of(f"{tmp_path}/f.py:fly") == FUNCTION
    assert kind_of("x" * 5000) is None
    with pytest.raises(ValueError, match=re.escape("'" + "x" * 50)):
        parse_mix("x" * 5000)


@pytest.fixture
def mixture(tmp_path) -> Path:
    """The file of a Nash mixture of two models, the second in a subfolder."""
    (tmp_path / "other").mkdir()
    for place, name in enumerate(("first.pt", "other/second.pt")):
        frozen.save(tmp_path / name, frozen.constant(place))
    path = tmp_path / "nash.json"
    write_nash(path, [NashMember("first.pt", 0.25), NashMember("other/second.pt", 0.75)])
    return path


def test_a_nash_mixture_stands_for_its_models_with_their_shares(mixture):
    shares = parse_mix(f"nash:{mixture}:3,ace:1")
    folder = mixture.parent
    assert shares == pytest.approx(
        {f"file:{folder}/first.pt": 0.1875, f"file:{folder}/other/second.pt": 0.5625, "ace": 0.25}
    )
    assert parse_mix(f"nash:{folder}") == parse_mix(f"nash:{mixture}")  # the file in a folder
    assert [one.name for one in load_mix(f"nash:{mixture}").outsiders] == ["first", "second"]


def test_a_nash_mixture_is_fought_where_any_mix_is(mixture):
    report = evaluate(f"nash:{mixture}", "straight", 20, **GAME)
    assert report["win"] + report["draw"] + report["loss"] == pytest.approx(1)
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
        *(
            (
                lambda content, path=path: content | {"members": [{"path": path, "weight": 1}]},
                rf"nash\.json: damaged: members\[0\]\.path = '{path}': must be a path within",
            )
            for path in ("../first.pt", "/etc/passwd", "other/../../first.pt")
        ),
    ],
)
def test_a_damaged_nash_file_is_refused(mixture, change, message):
    mixture.write_text(json.dumps(change(json.loads(mixture.read_text()))))
    with pytest.raises(UsageError, match=message):
        parse_mix(f"nash:{mixture}")


def test_a_missing_nash_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"nash\.json: No such file.*league --nash writes"):
        parse_mix(f"nash:{tmp_path}")


def test_a_league_writes_a_nash_file(tmp_path, capsys):
    """A policy that always turns and one that never does draw, so any shares would do."""
    for name, place in (("first", 0), ("second", 1)):
        frozen.save(tmp_path / f"{name}.pt", frozen.constant(place))
    models = [str(tmp_path / f"{name}.pt") for name in ("first", "second")]
    path = tmp_path / "made.json"
    words = ["--pilots", "none", "--games", "4", "--env.time-limit", "5", "--nash", str(path)]
    assert cli.run("league", [*models, *words]) == 0
    assert "Nash mixture of the models: first" in capsys.readouterr().out
    assert sum(parse_mix(f"nash:{path}").values()) == pytest.approx(1)
    (tmp_path / "below").mkdir()
    below = tmp_path / "below" / "made.json"  # beside which the models are copied
    assert cli.run("league", [*models, *words[:-1], str(below)]) == 0
    copies = [Path(name.removeprefix("file:")) for name in parse_mix(f"nash:{below}")]
    assert {copy.parent for copy in copies} == {tmp_path / "below" / "made-models"}
    contents = {(tmp_path / f"{name}.pt").read_bytes() for name in ("first", "second")}
    assert {copy.read_bytes() for copy in copies} <= contents
    with pytest.raises(UsageError, match="--nash: is a mixture of models, and none takes part"):
        cli.run("league", ["--games", "2", "--nash", str(path)])


def test_a_nash_mixture_that_names_a_model_twice_is_refused(tmp_path):
    path = tmp_path / "nash.json"
    write_nash(path, [NashMember("one.pt", 0.5), NashMember("one.pt", 0.5)])
    with pytest.raises(UsageError, match=r"nash.json: members\[1\].path: one.pt is given twice"):
        parse_mix(f"nash:{path}")
