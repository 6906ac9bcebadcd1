"""What the attacks of tools/hostile need as tests."""

import sys

from places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
