"""Makes the attacks of tools/hostile importable."""

import sys

from places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
