"""Builds web/midrange.html: the game in one page that needs no network, with the core inside.

    make web            # builds it
    make ship-web       # and makes it the page of the package

clang compiles the core, the learner and web/core.c to WebAssembly. The page holds the result, the
Python package's tables of parameters and pilots, and its policies.
"""

import argparse
import base64
import gzip
import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from string import Template

import numpy as np

from midrange_puffer import RADAR_FEATURES, __version__, _core
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.files import write_whole
from midrange_puffer.game import manoeuvres
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.observation import enemies_of, features_of, rows_of
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    EASY,
    HUMAN,
    LADDER,
    PARAMETERS,
    PILOTS,
    RULES_VERSION,
    SENSOR_PILOTS,
    WING_PILOTS,
    WINGMEN,
)
from midrange_puffer.game.types import (
    CATEGORIES,
    FIELDS,
    MAX_CARRIED,
    MAX_MISSILES,
    MAX_TYPES,
    PACKAGE,
)
from midrange_puffer.policies.native import flat_copy
from midrange_puffer.policies.networks import Policy
from midrange_puffer.show.page.packing import sound_table
from midrange_puffer.show.play.browser import SHIPPED
from midrange_puffer.show.play.words import (
    BETWEEN,
    BEYOND,
    DEBRIEF,
    INSIDE,
    LAST,
    TOO_LATE,
    TOO_NEAR,
)

ROOT = Path(__file__).parents[1]
WEB, BUILD = ROOT / "web", ROOT / "build" / "web"
PAGE = WEB / "midrange.html"
ASSETS = ROOT / "midrange_puffer" / "show" / "page" / "assets"
NEEDED = "apt-get install clang lld wasi-libc libclang-rt-dev-wasm32"

# The policies of the package that fly on the page, by their names there and in links.
POLICIES = ("champion", "champion:team2")
# In their order in the page; the first ones are those of the page of a replay.
SCRIPTS = (
    *("data.js", "canvas.js", "labels.js", "gestures.js", "knowledge.js", "sensors.js"),
    *("bodies.js", "plane.js", "side.js", "scenes.js", "spacetime.js", "status.js", "roster.js"),
    *("webgl.js", "camera.js", "camera_bodies.js"),
    *("types.js", "core.js", "teams.js", "shots.js", "zones.js", "graph.js", "contact_log.js"),
    *("live.js", "session.js"),
    *("replay_file.js", "coder.js", "link.js", "onnx.js", "kept.js", "aim.js", "hands.js"),
    *("warnings.js", "manoeuvres.js", "debrief.js", "ladder.js", "lessons.js", "daily.js"),
    *("sound.js", "sharing.js", "height.js", "views.js", "orders.js", "results.js", "play.js"),
)
CSRC = ROOT / "csrc"
# Files that are compiled for each game, as in setup.py, and once.
OF_GAMES = [CSRC / "kernel.c", CSRC / "state.c"]
SOURCES = [
    *(CSRC / f"{name}.c" for name in ("midrange", "tables", "constants", "types")),
    *sorted((CSRC / "learner").glob("*.c")),
    *sorted(WEB.glob("*.c")),
]
# The games of the page: the fighters of a side for which there is room, and the dimensions. All
# teams share one kernel; the room does not change the results.
GAMES = ((1, 2), (4, 2), (1, 3), (4, 3))
# As in setup.py for the portable kernel, with vectors of 16 bytes; the results have the same bits.
FLAGS = [
    *("--target=wasm32-wasi", "-std=c11", "-O3", "-msimd128", "-DNDEBUG", "-DMR_ISA=portable"),
    "-DMR_GAMES(X,with)=" + " ".join(f"X(with,{side},{dimensions})" for side, dimensions in GAMES),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-fvisibility=hidden", "-ffunction-sections", "-Wall", "-Wextra", "-Werror"),
    "-Wno-pass-failed",  # clang does not vectorise all loops of teams
]
EXPORTS = [
    *("malloc", "free"),
    *(
        f"mr_{name}"
        for name in (
            *("destroy", "reset", "start_episode", "step_controls", "advance", "observe_all"),
            *("get_fighter", "set_fighter", "get_missile", "set_missile"),
            *("snapshot_bytes", "snapshot", "restore", "state_hash", "fight_hash"),
            *("look_up_shots", "fly_shots", "look_ahead", "threat_cone", "high_threat_cone"),
            *("draw_types", "count_of"),
            *("learner_load", "learner_destroy"),
        )
    ),
]
LINK = ["-nostartfiles", "-Wl,--no-entry,--gc-sections,-s,-z,stack-size=1048576"]
LINK += [f"-Wl,--export={name}" for name in EXPORTS]


def main() -> int:
    """Builds the page; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=PAGE, help="the page; default %(default)s")
    parser.add_argument(
        "--ship",
        action="store_true",
        help="also compress it to the page of `puffer play --browser`",
    )
    options = parser.parse_args()
    try:
        wasm = compile_core(BUILD)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the core cannot be compiled to WebAssembly: {error}", file=sys.stderr)
        print(f"clang, lld and a C library for it are needed: {NEEDED}", file=sys.stderr)
        return 1
    page = render(wasm).encode()
    files = {options.out: page}
    if options.ship:
        files[SHIPPED] = gzip.compress(page, 9, mtime=0)
    for path, content in files.items():
        write_whole(path, content)
        print(f"{path}: {len(content):,} bytes")
    return 0


def compile_core(folder: Path) -> Path:
    """Compiles everything into a folder; returns the module's path.

    Raises:
        OSError: The compiler or its linker is missing.
        CalledProcessError: One of them fails.
    """
    for program in ("clang", "wasm-ld"):
        if not shutil.which(program):
            raise FileNotFoundError(f"{program} is not on PATH")
    folder.mkdir(parents=True, exist_ok=True)
    units = [(source, "", []) for source in SOURCES] + [
        (source, f"_{side}_{dimensions}", [f"-DMR_SIDE={side}", f"-DMR_DIMENSIONS={dimensions}"])
        for source in OF_GAMES
        for side, dimensions in GAMES
    ]
    objects = []
    for source, ending, macros in units:
        target = folder / f"{source.parent.name}_{source.stem}{ending}.o"
        command = ["clang", *FLAGS, *macros, *_includes(), "-c", source, "-o", target]
        subprocess.run(command, check=True)
        objects.append(target)
    out = folder / "core.wasm"
    command = ["clang", "--target=wasm32-wasi", *_libraries(), *LINK, *objects, "-o", out]
    subprocess.run(command, check=True)
    return out


def _includes() -> list[str]:
    """Returns options for Debian's headers of the C library, if they exist."""
    folder = Path("/usr/include/wasm32-wasi")
    return ["-isystem", str(folder)] if folder.is_dir() else []


def _libraries() -> list[str]:
    folder = Path("/usr/lib/wasm32-wasi")
    return [f"-L{folder}"] if folder.is_dir() else []


def scripts(*names: str) -> str:
    """Returns scripts of the page, by default all, as one ES module."""
    files = {path.name: path for path in (*ASSETS.glob("*.js"), *WEB.glob("*.js"))}
    return "\n".join(files[name].read_text("utf-8") for name in names or SCRIPTS)


def render(wasm: Path) -> str:
    """Returns the page, with the core in it."""
    return Template((WEB / "template.html").read_text("utf-8")).substitute(
        style=(ASSETS / "page.css").read_text("utf-8") + (WEB / "play.css").read_text("utf-8"),
        core=base64.b64encode(zlib.compress(wasm.read_bytes(), 9)).decode(),
        tables=json.dumps(tables()).replace("<", "\\u003c"),
        script=scripts(),
    )


def tables() -> dict[str, object]:
    """Returns the package's tables for the page."""
    envelope = game_envelope({name: row.default for name, row in PARAMETERS.items()})
    speeds = (envelope.grid.launch_speeds, envelope.grid.target_speeds)
    ends = [speed for axis in speeds for speed in (axis[0], axis[-1])]
    edges = [getattr(envelope, name) for name in ("aero", "nez", "cold", "minimum")]
    # By the core's numbers; the core itself sets the pilots of missions.
    chosen = ("agent", *PILOTS, *SENSOR_PILOTS)
    pilots = {name: number for number, name in enumerate(CONTROLLERS) if name in chosen}
    # Texts, of which some are numbers to the core: types of aircraft and missiles.
    texts = [name for name, row in PARAMETERS.items() if row.kind is str or row.is_mixed]
    numbers = {name: row for name, row in PARAMETERS.items() if row.kind is not str}
    flat = np.concatenate([np.ravel(part) for part in (ends, *edges)]).astype("<f4")
    return {
        "version": __version__,
        "rules": RULES_VERSION,
        "defaults": {name: row.default for name, row in PARAMETERS.items()},
        "texts": texts,
        "choices": {
            name: row.choices for name, row in numbers.items() if row.choices and not row.is_mixed
        },
        "integers": [name for name, row in numbers.items() if row.kind is int],
        "limits": {name: (row.minimum, row.maximum) for name, row in numbers.items()},
        "pairs": _core.parameter_pairs(),
        "controllers": pilots,
        "linked": linked_names(pilots),
        "sensorPilots": SENSOR_PILOTS,
        "wingPilots": WING_PILOTS,
        "wingmen": WINGMEN,
        "ladder": LADDER,
        "easy": EASY,
        "debrief": {
            "words": DEBRIEF,
            "tooLate": TOO_LATE,
            "zones": {"inside": INSIDE, "between": BETWEEN, "beyond": BEYOND, "near": TOO_NEAR},
            "last": LAST,
        },
        "manoeuvres": {
            "words": manoeuvres.WORDS,
            "ends": manoeuvres.ENDS,
            "margin": manoeuvres.MARGIN,
            "held": manoeuvres.HELD,
            "urgent": manoeuvres.URGENT,
            "nearer": manoeuvres.NEARER,
        },
        "features": {name: len(features_of(name)) for name in ("default", "radar", "height")},
        "types": {kind: kind_table(kind) for kind in CATEGORIES}
        | {"most": MAX_TYPES, "mostKinds": MAX_CARRIED, "mostMissiles": MAX_MISSILES},
        "sound": sound_table(),
        "envelope": base64.b64encode(flat.tobytes()).decode(),
        "view": {feature.name: place for place, feature in enumerate(RADAR_FEATURES)},
        "policies": {name: network(name) for name in POLICIES},
    }


def linked_names(pilots: Iterable[str]) -> list[str]:
    """Returns the players in the order of their numbers in links; new ones must come last."""
    first, *others = POLICIES
    alone = [name for name in pilots if name not in WING_PILOTS]
    return [HUMAN, first, *alone, *WING_PILOTS, *others]


def kind_table(kind: str) -> dict[str, object]:
    """Returns the fields of aircraft or missiles with their limits, and the package's types."""
    return {
        "fields": [(row.name, row.minimum, row.maximum) for row in FIELDS[kind].values()],
        "types": {name: [*values.values()] for name, values in PACKAGE[kind].items()},
    }


def network(name: str) -> dict[str, object]:
    """Returns a policy of the package for web/core.js, with its weights in base64."""
    policy, metadata = load_policy(name)
    return {
        "sensing": metadata["env"]["sensing"],
        "dimensions": 2,
        "size": metadata["env"].get("red_size", 1),
        "entities": entities_of(policy),
        "features": policy.features,
        "layers": policy.hidden_layers,
        "width": policy.hidden_size,
        "weights": base64.b64encode(flat_copy(policy).numpy().astype("<f4").tobytes()).decode(),
    }


def entities_of(policy: Policy) -> dict[str, object] | None:
    """Returns the layout of a team's observation for a policy; None in one against one."""
    if not policy.rows:
        return None
    _, *others = rows_of(policy.features)
    return {
        "kinds": [(kind.rows, kind.features, kind.place) for kind in others],
        "targets": others.index(enemies_of(others)),
        "entitySize": policy.entity_size,
    }


if __name__ == "__main__":
    sys.exit(main())
