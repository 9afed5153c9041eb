"""Where machine profiles are looked for, as the built tool says it."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest
from tree import ROOT

BUILT = ROOT / "build" / "release"


@pytest.mark.parametrize("home", [None, "", str(BUILT), "/nowhere"])
def test_each_directory_that_is_searched_is_named_once(home: str | None) -> None:
    tool = BUILT / "bin" / "wattle-info"
    if not tool.exists():
        pytest.skip("build/release is not built")
    environment = {k: v for k, v in os.environ.items() if k != "WATTLE_HOME"} | {"WATTLE_MACHINE": "bogus"}
    environment |= {} if home is None else {"WATTLE_HOME": home}
    done = subprocess.run([str(tool)], env=environment, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)["machine"]["error"]
    named = re.search(r"looked for bogus\.yaml in (.*?)\)", said)
    assert named, said
    directories = named[1].split(":")
    assert all(directories)
    assert len(directories) == len(set(directories)) > 0
    if home:
        assert directories[0] == f"{home}/share/wattle/machines"
