"""Refusals and explanations of the command line, before anything heavy is imported."""

import json
import subprocess
import sys

import pytest

from midrange_puffer.commands import cli
from midrange_puffer.policies.models import FOLDER

EXPORTED = FOLDER / "champion.onnx"
# Imports that take from a tenth of a second to three.
HEAVY = ("torch", "pufferlib", "gymnasium", "rich", "pygame", "matplotlib", "ray", "onnxruntime")
# What follows `puffer`, and a part of what is said of it.
REFUSED = {
    "trian midrange": "did you mean 'train'",
    "train midrange --train.gama 1": "did you mean",
    "train midrange --train.minibatch-size 1000": "must be a multiple of train.bptt_horizon 64",
    "train midrange --train.minibatch-size 3200": "a multiple of train.minibatch_size 3200",
    "train midrange --vec.num-envs 3 --train.batch-size 65536": "196608 = 3072 agents x",
    "train midrange --resume nope": "nope: no such run folder",
    "train midrange --ranks 100000": "--ranks = 100000: must be at most",
    "train midrange --config defualt.ini": "did you mean 'configs/default.ini'",
    "profile midrange --max-restarts 1": "is for --ranks",
    "profile midrange --env.opponent shoter": "did you mean 'shooter'",
    "sweep midrange --config configs/sweep.ini --sweep.trails 3": "did you mean",
    "sweep midrange --report nope": "nope: no such sweep",
    "eval midrange --load-model-path nope.pt": "nope.pt: no such file",
    "eval midrange --load-model-path trained:x": "no such model comes with this package",
    "eval midrange --load-model-path trained --opponent shoter": "did you mean 'shooter'",
    "eval midrange --load-model-path trained --opponent nope.onnx": "nope.onnx: no such file",
    "eval midrange --load-model-path trained --env.action-mode orders": "is a key of training",
    "eval midrange --load-model-path trained --env.action-mod orders": "no such option",
    "eval midrange --threads 1024": "--threads: 1024: there are",
    "eval midrange --episodes 3": "--episodes: 3: must be an even number",
    "league midrange nope.pt": "nope.pt: no such file",
    "league midrange --run nowhere": "nowhere: no such run",
    "league midrange --pilots none": "needs two players",
    "league midrange --pilots ace": "needs two players",
    "league midrange --pilots ace,ace": "ace is given twice",
    "league midrange --pilots ace,evadr": "--pilots: evadr: must be of",
    "league midrange --pilots evadr": "did you mean 'evader'",
    "league midrange --games 7": "--games: 7: must be an even number",
    "league midrange --checkpoint 3": "did you mean '--checkpoints'",
    "league midrange --out league.txt": "must end in .png",
    "panel midrange": "FILE: none: the panel takes one policy at a time",
    "panel midrange trained ace": "FILE: trained, ace: the panel takes one",
    "panel midrange trained:selfpaly": "did you mean 'trained:selfplay'",
    "panel midrange acee": "did you mean 'ace'",
    "panel midrange trained --episodes 100": "100: must be a multiple of 64: each of the 32",
    "panel midrange trained --episodes 3": "3: must be an even number",
    "panel midrange trained --seed -1": "--seed",
    "panel midrange trained --json no/where.json": "there is no folder no",
    "panel midrange trained --opponent ace": "--opponent: no such option",
    "panel midrange ace --exploit": "ace: is no model; exploiters are trained against one",
    "panel midrange no.py:fly --exploit": "--exploit: no.py:fly: is no model",
    "panel midrange trained,ace --exploit": "--exploit: trained,ace: is no model",
    f"panel midrange {EXPORTED} --exploit": "is an exported policy",
    "panel midrange trained --exploit --greedy": "--exploit: not with --greedy",
    "panel midrange trained --exploit --budget 0": "--budget: 0: must be",
    "panel midrange trained --out a.png": "--out: is the picture of --exploit, which is not given",
    "average midrange": "--out is missing: the file to write, *.pt",
    "average midrange --out=a": "must end in .pt",
    "average midrange trained --out=a.pt": "needs two models",
    "average midrange trained nowhere.pt --out=a.pt": "nowhere.pt: no such file",
    "average midrange trained trained --last=1 --out=a.pt": "--last",
    f"average midrange trained {EXPORTED} --out=a.pt": "is exported: its weights are in the model",
    "exploit midrange --load-model-path trained --train.gama 1": "did you mean",
    "plot midrange --load-model-path trained --opponent ace:1,evader:1": "is a mix",
    "plot midrange --out fight.jpg": "must end in .png",
    "export midrange --load-model-path trained": "--onnx is missing",
    "envelope midrange --env.missile-trust 1": "did you mean '--env.missile-thrust'",
    "envelope midrange --env.dimensions 3 --env.red-missile shrt": "did you mean 'short'",
    "replay midrange": "no file is given",
    "replay midrange example --gif a.gif --size 7x7": "must be width x height",
    "play midrange --blue aec": "did you mean 'ace'",
}

SCRIPT = """
import contextlib, io, json, sys
from midrange_puffer.commands import cli
answers = []
for words in json.load(sys.stdin):
    sys.argv = ["puffer", *words.split()]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main()
    answers.append([status, out.getvalue(), err.getvalue(), sorted(sys.modules)])
json.dump(answers, sys.stdout)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Words -> (exit status, stdout, stderr, modules that were there by then), of one process."""
    folder = tmp_path_factory.mktemp("refusals")
    asked = [*REFUSED, *(f"{mode} midrange --help" for mode in cli.MODES), "--help"]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(asked),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return dict(zip(asked, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(("words", "said"), REFUSED.items())
def test_it_is_refused_in_a_line_before_anything_heavy_is_imported(answers, words, said):
    status, out, err, modules = answers[words]
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith("puffer: error: ")
    assert len(err.splitlines()) == 1
    assert not set(HEAVY) & set(modules)


@pytest.mark.parametrize("mode", cli.MODES)
def test_help_needs_nothing_heavy(answers, mode):
    status, out, err, modules = answers[f"{mode} midrange --help"]
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: puffer {mode} midrange")
    assert not set(HEAVY) & set(modules)
