"""The pages of the site that no file of docs/ has: a hook of mkdocs, as mkdocs.yml names it.

README and other pages of the repository get their place, and source files that pages link to become
pages, so that a link that works in the repository works on the site. Reference pages are made from
the tables that the code itself goes by.
"""

import inspect
import posixpath
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from midrange_puffer import Simulation
from midrange_puffer.config.schema import help_sections
from midrange_puffer.contest.ratings import ANCHORS
from midrange_puffer.game.observation import (
    FEATURES,
    HEIGHT_FEATURES,
    RADAR_FEATURES,
    STG_FEATURES,
    Feature,
    features_of,
)
from midrange_puffer.game.parameters import (
    AUTOMATIC,
    CONTROLLERS,
    PARAMETERS,
    PILOTS,
    Parameter,
)
from midrange_puffer.show.play.browser import read_page

ROOT = Path(__file__).resolve().parents[1]
# Pages outside docs/: path in the repository -> path on the site.
MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "csrc/RULES.md": "rules.md",
}
GAME = ROOT / "web" / "midrange.html"  # built by `make web`; without it, the package's page
LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)#\s]+)((?:#[^)]*)?\))")
LANGUAGES = {".py": "python", ".c": "c", ".h": "c", ".ini": "ini", ".pyx": "cython"}
STYLE_FILE = "assets/tables.css"
STYLE = ".md-typeset td:first-child code { white-space: nowrap; }\n"
# The modules whose names users import.
PUBLIC = (
    "midrange_puffer",
    "midrange_puffer.gym",
    "midrange_puffer.pettingzoo",
    "midrange_puffer.sb3",
    "midrange_puffer.training",
    "midrange_puffer.evaluate",
    "midrange_puffer.checkpoint",
    "midrange_puffer.spacetime",
)
GROUPS = {
    "rules": "The rules",
    "flight": "Fighters",
    "missile": "Missiles",
    "sensor": "Sensors",
    "start": "Starts",
    "reward": "Rewards",
    "pilot": "Pilots",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    sources = set()
    for path in (*MOVED, *(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md"))):
        text = (ROOT / path).read_text(encoding="utf-8")
        sources |= {target for target in _targets(text, path) if _is_source(target)}
        if path in MOVED:
            files.append(File.generated(config, MOVED[path], content=_relinked(text, path)))
    for path in sorted(sources):
        files.append(File.generated(config, f"source/{path}.md", content=_source_page(path)))
    files.append(File.generated(config, STYLE_FILE, content=STYLE))
    game = GAME.read_bytes() if GAME.is_file() else read_page()
    files.append(File.generated(config, GAME.name, content=game))
    for name, content in REFERENCE.items():
        files.append(File.generated(config, f"reference/{name}.md", content=content()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Changes the links of a page of docs/ to places on the site."""
    if (ROOT / "docs" / page.file.src_uri).is_file():
        return _relinked(markdown, f"docs/{page.file.src_uri}")
    return markdown


def _targets(text: str, path: str) -> Iterator[str]:
    """Returns the files of the repository that a page at `path` links to."""
    for link in LINK.finditer(text):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))


def _is_source(path: str) -> bool:
    return path not in MOVED and not path.startswith("docs/") and (ROOT / path).is_file()


def _relinked(text: str, path: str) -> str:
    """Returns the text of a page at `path` in the repository, with the links of the site."""

    def moved(link: re.Match) -> str:
        (target,) = _targets(link[0], path)
        if target in MOVED:
            place = MOVED[target]
        elif target.startswith("docs/"):
            place = target.removeprefix("docs/")
        else:
            place = f"source/{target}.md"
        return link[1] + place + link[3]  # all pages that have links are at the top

    return LINK.sub(moved, text)


def _source_page(path: str) -> str:
    file = ROOT / path
    text, language = file.read_text(encoding="utf-8"), LANGUAGES.get(file.suffix, "text")
    return f"# {path}\n\n````{language}\n{text}\n````\n"


def _api() -> str:
    """Returns the page of every public class and function, by the module of its import.

    mkdocstrings replaces each `::: name` with the docstring, which it reads without importing.
    """
    parts = ["# Python\n\nThe classes and functions of the package, by module.\n"]
    for name in PUBLIC:
        module = import_module(name)
        parts.append(f"## `{name}`\n\n{inspect.cleandoc(module.__doc__)}\n")
        members = [getattr(module, member) for member in sorted(module.__all__)]
        parts += [
            f"::: {member.__module__}.{member.__qualname__}\n{_options(member)}"
            for member in members
            if inspect.isclass(member) or inspect.isfunction(member)
        ]
    return "\n".join(parts)


def _options(member: object) -> str:
    """Returns the options of an entry: what `Simulation` reads is in its base class."""
    return "    options:\n      inherited_members: true\n" if member is Simulation else ""


def _configuration() -> str:
    """Returns the page of every key of every section."""
    parts = [
        "# Configuration\n\n`--section.key VALUE` on the command line, or `key = VALUE` in the "
        "section of an ini file. A key of `[base]` is `--key VALUE`. "
        "`puffer train midrange --help` prints the same.\n"
    ]
    for section, keys in help_sections().items():
        rows = (
            (f"`{key.name}`", f"`{key.default}`", _cell(key.allowed), _with_unit(key))
            for key in keys.values()
        )
        table = _table("key | default | allowed | meaning", rows)
        parts.append(f"## [{_cell(section)}]\n\n{table}")
    return "\n".join(parts)


def _parameters() -> str:
    """Returns the page of every row of csrc/params.h, by group."""
    parts = [
        "# Parameters of the game\n\nEach but `types` is a row of `csrc/params.h`. All are "
        "keywords of `Midrange` and `Simulation`, and keys of `[env]`. [The rules](../rules.md) "
        "say how they work together.\n"
    ]
    for group in dict.fromkeys(one.group for one in PARAMETERS.values()):
        rows = (
            (f"`{one.name}`", *_values(one), _with_unit(one))
            for one in PARAMETERS.values()
            if one.group == group
        )  # fmt: skip
        parts.append(
            f"## {GROUPS[group]}\n\n" + _table("parameter | default | range | meaning", rows)
        )
    return "\n".join(parts)


def _values(one: Parameter) -> tuple[str, str]:
    """Returns a parameter's default, and its allowed values."""
    if one.choices:
        return one.default, " or ".join(one.choices) + ", or a mix" * one.is_mixed
    if one.kind is str:
        return "", "text"
    automatic = f"{AUTOMATIC}: " * one.is_automatic
    return f"{automatic}{one.default:g}", f"{one.minimum:g} to {one.maximum:g}"


def _features() -> str:
    """Returns the page of an agent's observation, by number."""
    more = STG_FEATURES[len(FEATURES) :]
    return (
        "# Features\n\nWhat an agent sees: float32 from −1 to 1, each value divided by its scale "
        "and clipped. *Lateral* ones change their sign where left and right are exchanged.\n\n"
        + _feature_table(FEATURES, 0)
        + "\n## With `observation = stg`\n\n"
        + _feature_table(more, len(FEATURES))
        + "\n## With `sensing = radar`\n\nInstead of all these. [Sensors](../sensors.md).\n\n"
        + _feature_table(RADAR_FEATURES, 0)
        + "\n## With `dimensions = 3`\n\nInstead of all these. [Height](../height.md).\n\n"
        + _feature_table(HEIGHT_FEATURES, 0)
        + "\n## In teams\n\nOf two against two; larger [teams](../teams.md) have more rows of "
        "allies and enemies.\n\n"
        + _feature_table(features_of("team", 2, 2), 0)
        + "\n## In teams with `sensing = radar`\n\nLikewise.\n\n"
        + _feature_table(features_of("team_radar", 2, 2), 0)
    )


def _feature_table(features: Iterable[Feature], first: int) -> str:
    rows = (
        (
            number,
            f"`{one.name}`",
            f"{one.scale:g}",
            "yes" if one.lateral else "",
            _cell(one.meaning),
        )
        for number, one in enumerate(features, first)
    )
    return _table("number | feature | scale | lateral | meaning", rows)


def _pilots() -> str:
    """Returns the page of the scripted pilots, the highest rating first, with their parameters."""
    parts = [
        "# Pilots\n\nThe ratings are of the pilots among themselves; 400 points are odds of 10. "
        "[Opponents](../opponents.md) has every pairing, [the rules](../rules.md) what each does.\n"
    ]
    for name in sorted(PILOTS, key=lambda name: -ANCHORS.get(name, 0)):
        prefix = {"bracket_shooter": "bracket_"}.get(name, f"{name}_")
        rows = [
            (f"`{one.name}`", f"{one.default:g}", _with_unit(one))
            for one in PARAMETERS.values()
            if one.group == "pilot" and one.name.startswith(prefix)
        ]
        table = "\n" + _table("parameter | default | meaning", rows) if rows else ""
        meaning = CONTROLLERS[name]
        text = meaning[0].upper() + meaning[1:]
        rating = f"Rating {ANCHORS[name]:.0f}. " if name in ANCHORS else ""
        parts.append(f"## `{name}`\n\n{rating}{text}.\n{table}")
    return "\n".join(parts)


def _with_unit(one: object) -> str:
    is_plain = one.unit in ("", "1") or one.choices
    unit = "" if is_plain else f" [{one.unit}]"
    return _cell(one.meaning + unit)


def _cell(text: str) -> str:
    """Returns a text in a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def _table(head: str, rows: Iterable[Iterable[object]]) -> str:
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


REFERENCE = {
    "api": _api,
    "configuration": _configuration,
    "parameters": _parameters,
    "features": _features,
    "pilots": _pilots,
}
