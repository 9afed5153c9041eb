"""Timelines of real jobs, OpenSHMEM's and MPI's: all of the time is there once, and the files keep to their size."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import loaded
import numpy as np
import otf2
import pytest
from jobs import HOME, clean_environment
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
from preload import BOTH, ENVIRONMENT, Mpi
from tree import PACKAGE
from wattle.base import files
from wattle.machine import info
from wattle.record import power_trace, profile
from wattle.record.timeline_file import load
from wattle.timeline.rows import leaves, rows

EVENT_BYTES = 32


def run(directory: Path, size: str, *words: object, meter: str = "model", **more: str) -> None:
    command = ["run", "--timeline", "--meter", meter]
    command += ["--set", f"WATTLE_TIMELINE={size}", "-o", str(directory), *map(str, words)]
    environment = {**clean_environment(), **ENVIRONMENT, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE), **more}
    done = loaded.wattle(*command, environment=environment, folder=Path.cwd())
    assert done.returncode == 0, done.stderr
    assert "spans kept" in " ".join(done.stderr.split())


def check(directory: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLE_HOME", str(HOME))
    timelines = load(directory / "profile")
    found = profile.load(directory, timelines[0].n_pes)
    assert len(timelines) == found.n_pes == 2
    for timeline in timelines:
        assert all(thread.spans * EVENT_BYTES <= size for thread in timeline.threads)
    for row in rows(timelines, found, info.ask(dict(os.environ)).machine):
        check_row(row, found.pes[row.pe], sum(t.left_out_s for t in timelines[row.pe].threads))
    names = {f"{found.noun} 0", f"{found.noun} 1"}
    trace = proto.Trace()
    trace.ParseFromString((directory / "timeline.pftrace").read_bytes())
    assert names <= {p.track_descriptor.name for p in trace.packet}
    with otf2.reader.open(str(directory / "timeline-otf2" / "traces.otf2")) as archive:
        assert names <= {location.name for location, _ in archive.events}


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


@contextmanager
def package(root: Path) -> Iterator[Path]:
    """A made-up /sys with a package whose counter advances by 1 J with each update, some each 10 ms."""
    zone = root / "class" / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True)
    (zone / "name").write_text("package-0\n")
    (zone / "max_energy_range_uj").write_text("262143328850\n")
    energy, stop = zone / "energy_uj", threading.Event()
    energy.write_text("1000000\n")

    def advance() -> None:
        joules = 1
        while not stop.wait(0.01):
            joules += 1
            files.write_atomically(energy, f"{joules}000000\n")

    thread = threading.Thread(target=advance)
    thread.start()
    try:
        yield root
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("every", ["2ms", "0"])
def test_a_sensors_watts_are_beside_the_timeline(tmp_path: Path, every: str) -> None:
    directory = tmp_path / "run"
    settings = ["--set", f"WATTLE_TIMELINE_POWER={every}", "-n", 2, "--", HOME / "lib/wattle/apps/slack"]
    with package(tmp_path / "sys") as root:
        # A point needs two advances of the sensor, which a busy machine may delay.
        run(directory, "64K", *settings, "--least", 1, "1", meter="powercap", WATTLE_SYSFS=str(root))
    found = power_trace.load(directory / "profile", {0: "here", 1: "here"})
    if every == "0":
        assert found == []
        return
    (power,) = found
    assert (power.scope, power.source) == ("package-0", "powercap")
    assert len(power.at_s) >= 2
    assert all(w > 0 for w in power.watts)
    (timeline, *_) = load(directory / "profile")
    begin, end = (1e-9 * int(ns) for ns in timeline.ns(np.array([timeline.start_tick, timeline.end_tick]), False))
    assert begin - 0.5 <= power.at_s[0] <= power.at_s[-1] <= end + 0.5
    trace = proto.Trace()
    trace.ParseFromString((directory / "timeline.pftrace").read_bytes())
    assert "power, W, package-0, powercap" in {p.track_descriptor.name for p in trace.packet}
