"""The site: it builds without a dead link, and its reference pages have all that there is."""

import os
import re
import subprocess
import sys

import pytest
from places import ROOT

from midrange_puffer.config.schema import schema
from midrange_puffer.game.observation import STG_FEATURES
from midrange_puffer.game.parameters import PARAMETERS, PILOTS


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(
        [*command, "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return folder


def words(page) -> set[str]:
    """What stands as code in a page."""
    return set(re.findall(r"<code>([^<]*)</code>", page.read_text()))


@pytest.mark.slow
def test_reference_pages_have_every_key_parameter_feature_and_pilot(site):
    reference = site / "reference"
    keys = {name for section in schema().values() for name in section}
    assert keys <= words(reference / "configuration.html")
    assert PARAMETERS.keys() <= words(reference / "parameters.html")
    assert {one.name for one in STG_FEATURES} <= words(reference / "features.html")
    assert set(PILOTS) <= words(reference / "pilots.html")


@pytest.mark.slow
def test_it_loads_nothing_from_elsewhere(site):
    loads = r"<(?:script|link|img)[^>]*(?:src|href)=\"?(https?:[^\" >]*)"
    for page in site.rglob("*.html"):
        assert re.findall(loads, page.read_text()) == [], page
