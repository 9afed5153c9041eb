"""Where the sources, the lab's package and the build under test lie."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
HOME = Path(os.environ.get("WATTLE_HOME", ROOT / "build" / "release")).resolve()
