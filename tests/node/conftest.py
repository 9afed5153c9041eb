"""Makes the helpers of these tests importable from anywhere."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
