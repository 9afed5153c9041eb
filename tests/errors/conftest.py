"""The helpers that start jobs lie with the tests of the node."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "node"))
