"""The site: it builds unless a link is dead, and its reference pages have all that there is.

In each run of the tests test_docs.py follows the links of all pages.
"""

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from midrange_puffer.config.schema import schema
from midrange_puffer.game.observation import RADAR_FEATURES, STG_FEATURES
from midrange_puffer.game.parameters import PARAMETERS, PILOTS

pytestmark = pytest.mark.nightly

# The words of `make docs`, so that they are tested, too.
BUILD = re.search(r"mkdocs (build .*)", (ROOT / "Makefile").read_text())[1].split()


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess]:
    """The site with three mistakes added, and its build."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("mkdocs.yml", "tools"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", folder / "docs")
    with (folder / "docs" / "export.md").open("a") as page:
        page.write("\n[page](nowhere.md) [anchor](training.md#nowhere)\n")
    (folder / "docs" / "lonely.md").write_text("# Lonely\n")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "mkdocs", *BUILD, "--site-dir", "site"],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return folder / "site", done


@pytest.fixture
def site(built) -> Path:
    return built[0]


def test_a_dead_link_or_anchor_or_a_page_out_of_the_nav_fails(built):
    """There are no other warnings, so without these three mistakes the build succeeds."""
    _, done = built
    assert done.returncode != 0
    for said in ("'nowhere.md'", "'training.md#nowhere'", "lonely.md", "with 3 warnings"):
        assert said in done.stdout


def words(page) -> set[str]:
    """Returns the texts in code style of a page."""
    return set(re.findall(r"<code>([^<]*)</code>", page.read_text()))


def test_reference_pages_have_every_key_parameter_feature_and_pilot(site):
    reference = site / "reference"
    keys = {name for section in schema().values() for name in section}
    assert keys <= words(reference / "configuration.html")
    assert PARAMETERS.keys() <= words(reference / "parameters.html")
    shown = words(reference / "features.html")
    assert {one.name for one in (*STG_FEATURES, *RADAR_FEATURES)} <= shown
    assert set(PILOTS) <= words(reference / "pilots.html")


def test_the_python_reference_has_every_public_class_and_function(site):
    page = (site / "reference" / "api.html").read_text()
    anchors = set(re.findall(r'<h3 id="([^"]*)"', page))
    for name in ("", ".gym", ".pettingzoo", ".sb3", ".training", ".evaluate", ".spacetime"):
        module = importlib.import_module(f"midrange_puffer{name}")
        for member in (getattr(module, name) for name in module.__all__):
            if inspect.isclass(member) or inspect.isfunction(member):
                assert f"{member.__module__}.{member.__qualname__}" in anchors


def test_it_loads_nothing_from_elsewhere(site):
    loads = r"<(?:script|link|img)[^>]*(?:src|href)=\"?(https?:[^\" >]*)"
    for page in site.rglob("*.html"):
        assert re.findall(loads, page.read_text()) == [], page
