"""Timelines of real jobs, OpenSHMEM's and MPI's: all of the time is there once, and the files keep to their size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import otf2
import pytest
from jobs import HOME, clean_environment
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
from preload import BOTH, ENVIRONMENT, Mpi
from tree import PACKAGE
from wattle import info, profile
from wattle.timeline.rows import leaves, load, rows

EVENT_BYTES = 32


def run(directory: Path, size: str, *words: object) -> None:
    command = [sys.executable, "-m", "wattle", "run", "--timeline", "--meter", "model"]
    command += ["--set", f"WATTLE_TIMELINE={size}", "-o", str(directory), *map(str, words)]
    environment = {**clean_environment(), **ENVIRONMENT, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "spans kept" in " ".join(done.stderr.split())


def check(directory: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLE_HOME", str(HOME))
    timelines = load(directory / "profile")
    found = profile.load(directory, timelines[0].n_pes)
    assert len(timelines) == found.n_pes == 2
    for timeline in timelines:
        assert all(thread.spans * EVENT_BYTES <= size for thread in timeline.threads)
    for row in rows(timelines, found, info.ask(dict(os.environ)).machine, {}):
        check_row(row, found.pes[row.pe], sum(t.left_out_s for t in timelines[row.pe].threads))
    trace = proto.Trace()
    trace.ParseFromString((directory / "timeline.pftrace").read_bytes())
    assert {"PE 0", "PE 1"} <= {p.track_descriptor.name for p in trace.packet}
    with otf2.reader.open(str(directory / "timeline-otf2" / "traces.otf2")) as archive:
        assert {"PE 0", "PE 1"} <= {location.name for location, _ in archive.events}


def check_row(row, pe, left_out_s: float) -> None:
    at, drawn_s = row.begin, 0.0
    for begin, end, state in leaves(row.slices):
        assert begin == at
        at = end
        drawn_s += 0 if state == "active" else 1e-9 * (end - begin)
    waited_s = sum(pe.state_s[stage] for stage in ("spin", "yield", "asleep"))
    clocks_s = 1e-3 + 0.01 * waited_s  # a tick's length is known better at the end than at the beginning
    assert waited_s - left_out_s - clocks_s <= drawn_s <= waited_s + clocks_s
    assert row.joules


@pytest.mark.parametrize("size", [4096, 2 << 20])
def test_an_openshmem_job(tmp_path: Path, monkeypatch, size: int) -> None:
    run(tmp_path / "run", str(size), "-n", 2, "--", HOME / "bin/examples/halo", "--imbalance", 2)
    check(tmp_path / "run", size, monkeypatch)


@BOTH
def test_an_mpi_job(mpi: Mpi, tmp_path: Path, monkeypatch) -> None:
    program = mpi.compile("sums.c", tmp_path)
    run(tmp_path / "run", "64K", "--mpi", "--", mpi.tool("mpirun"), "-n", 2, program)
    check(tmp_path / "run", 64 << 10, monkeypatch)
