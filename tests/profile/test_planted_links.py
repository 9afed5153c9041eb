"""Profiles and timelines in a folder that others may write to: no link that was put there is written through."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from jobs import HOME, clean_environment

# Puts links where a stranger would who knows the number of the process.
PROGRAM = """
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>
static void plant(const char *folder, const char *victim, const char *name, const char *after)
{
  char path[4096];
  snprintf(path, sizeof path, after ? "%s/%s.%d%s" : "%s/%s", folder, name, (int)getpid(), after);
  if (symlink(victim, path) != 0) perror(path);
}
int main(int argc, char **argv)
{
  const char *names[] = {"pe-00000.json", "timeline-00000.bin"};
  shmem_init();
  for (int i = 0; i < 2; i++) {
    plant(argv[1], argv[2], names[i], NULL);
    plant(argv[1], argv[2], names[i], ".part");
  }
  shmem_barrier_all();
  shmem_finalize();
}
"""


def test_profiles_and_timelines_are_not_written_through_planted_links(tmp_path: Path) -> None:
    source, program, victim, folder = (tmp_path / name for name in ("p.c", "p", "victim", "profile"))
    source.write_text(PROGRAM)
    victim.write_text("mine")
    folder.mkdir()
    subprocess.run([HOME / "bin/oshcc", source, "-o", program], check=True)
    environment = clean_environment() | {"WATTLE_PROFILE_DIR": str(folder), "WATTLE_TIMELINE": "1M"}
    done = subprocess.run([program, folder, victim], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert victim.read_text() == "mine"
    assert json.loads((folder / "pe-00000.json").read_text())["pe"] == 0
    assert not (folder / "timeline-00000.bin").is_symlink()
    assert not list(folder.glob(".*"))
