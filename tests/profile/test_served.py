"""The work of PEs for others is assigned to the call sites that asked, and all parts add up to the PEs' joules."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest
from jobs import OSHCC, clean_environment
from tree import ROOT
from wattle.figures import sites
from wattle.record.pe import PE
from wattle.record.profile import RunProfile, load

BETWEEN_NODES = """
#include <shmem.h>
static long counter, field[1024];
int main(void)
{
  shmem_init();
  int other = 1 - shmem_my_pe();
  if (other == 1) {
    for (int i = 0; i < 3000; i++) shmem_long_atomic_add(&counter, 1, other);
    for (int i = 0; i < 500; i++) shmem_long_put(field, field, 1024, other);
    for (int i = 0; i < 20; i++) shmem_long_get(field, field, 512, other);
  }
  shmem_barrier_all();
  shmem_finalize();
}
"""
# A put of 8 KiB is a record of a message; a fetch moves its bytes in the answer.
ASKED = {"shmem_long_atomic_add": (3000, 0), "shmem_long_put": (500, 500 * 8192), "shmem_long_get": (20, 20 * 4096)}

HANDLERS = """
#include <shmem.h>
#include <shmemx.h>
static volatile double sum;
static void work(void *buf, size_t n, int pe, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)pe, (void)token;
  for (int i = 0; i < 1000000; i++) sum += i; /* longer than an interruption of `nothing`, scaled up */
}
static void nothing(void *buf, size_t n, int pe, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)pe, (void)token;
}
int main(void)
{
  char data[24] = {0};
  shmem_init();
  shmemx_am_attach(1, work);
  shmemx_am_attach(2, nothing);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    for (int i = 0; i < 300; i++) shmemx_am_request(1, 1, data, sizeof data);
    for (int i = 0; i < 300; i++) shmemx_am_request(1, 2, data, sizeof data);
    shmemx_am_quiet();
  }
  shmem_barrier_all();
  shmem_finalize();
}
"""


def profile_of(source: str, folder: Path, launcher: list[str]) -> RunProfile:
    program, profile = folder / "program", folder / "profile"
    (folder / "program.c").write_text(source)
    profile.mkdir()
    subprocess.run([OSHCC, "-g", "-O2", folder / "program.c", "-o", program], check=True)
    environment = clean_environment() | {"WATTLE_PROFILE_DIR": str(profile), "WATTLE_METER": "model"}
    done = subprocess.run(
        [*launcher, str(program)], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr
    return load(profile)


def joules_for_others(pe: PE) -> float:
    return sum((row.cpu or 0.0) + (row.dram or 0.0) for row in pe.served.rows if row.pe != pe.pe)


def check_that_parts_add_up(profile: RunProfile) -> None:
    """The joules of call sites elsewhere are those of PEs for others, and a PE's parts are not more than its whole."""
    merged, rest = sites.merge(profile), sites.assigned_of(profile).rest
    elsewhere = sum(j.joules or 0.0 for found in (*(s.elsewhere for s in merged), rest.sums()) for j in found)
    assert math.isclose(elsewhere, sum(map(joules_for_others, profile.pes)), rel_tol=1e-9)
    for pe in profile.pes:
        whole = sum(sites.pe_figure(pe, domain).joules or 0.0 for domain in ("cpu", "dram"))
        own = sum(joules or 0.0 for site in pe.sites for joules in site.joules.values())
        assert own + joules_for_others(pe) <= whole * (1 + 1e-6)


def test_requests_between_nodes_are_counted_by_call_site(tmp_path: Path) -> None:
    profile = profile_of(BETWEEN_NODES, tmp_path, [str(ROOT / "tools/on-nodes"), "2", "1"])
    assigned = sites.assigned_of(profile)
    found = {}
    for i, site in enumerate(profile.pes[0].sites):
        if site.call in ASKED:
            part = assigned.of_site[0, i]
            found[site.call] = (part.requests, part.bytes)
    for call, (requests, moved) in ASKED.items():
        # A request for the completion of earlier ones is one more, without bytes.
        assert requests <= found[call][0] <= 2 * requests, call
        assert found[call][1] == moved, call
    assert not any(
        assigned.of_site.get((1, i)) and assigned.of_site[1, i].bytes for i in range(len(profile.pes[1].sites))
    )
    check_that_parts_add_up(profile)


def test_handlers_are_assigned_to_the_sites_of_their_requests(tmp_path: Path) -> None:
    profile = profile_of(HANDLERS, tmp_path, [str(OSHCC.parent / "oshrun"), "-n", "2"])
    assigned = sites.assigned_of(profile)
    asked = [
        (site.addr, assigned.of_site[0, i])
        for i, site in enumerate(profile.pes[0].sites)
        if site.call == "shmemx_am_request"
    ]
    assert [(part.requests, part.bytes) for _, part in asked] == [(300, 300 * 24)] * 2
    long, short = (part.seconds for _, part in sorted(asked))  # in the order of the program
    assert long > short >= 0
    check_that_parts_add_up(profile)


def test_each_call_site_has_a_mark(tmp_path: Path) -> None:
    profile = profile_of(BETWEEN_NODES, tmp_path, [str(OSHCC.parent / "oshrun"), "-n", "2"])
    assert all(site.mark for pe in profile.pes for site in pe.sites)
    assert not any(row.pe != pe.pe for pe in profile.pes for row in pe.served.rows)  # within a node no PE is asked
