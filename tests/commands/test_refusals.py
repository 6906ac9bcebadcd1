"""What the command line only refuses or explains: seen at once, before anything heavy is there."""

import json
import subprocess
import sys

import pytest

from midrange_puffer.commands import cli

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
    "eval midrange --threads 1024": "--threads: 1024: there are",
    "eval midrange --episodes 3": "--episodes: 3: must be an even number",
    "league midrange nope.pt": "no such file",
    "league midrange --pilots none": "needs two players",
    "exploit midrange --load-model-path trained --train.gama 1": "did you mean",
    "plot midrange --load-model-path trained --opponent ace:1,evader:1": "is a mix",
    "plot midrange --out fight.jpg": "must end in .png",
    "export midrange --load-model-path trained": "--onnx is missing",
    "envelope midrange --env.missile-trust 1": "did you mean '--env.missile-thrust'",
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
    asked = [*REFUSED, *(f"{mode} midrange --help" for mode in cli.MODES), "--help"]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(asked),
        cwd=tmp_path_factory.mktemp("refusals"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
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
