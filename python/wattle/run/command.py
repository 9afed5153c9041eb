"""Runs a job for `wattle run`, and shows its figures.

The job starts as soon as the command knows that it may. Modules for the manifest and for figures are imported while it
runs.
"""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wattle.base import extras, limits
from wattle.base.checked import shown
from wattle.base.errors import WattleError
from wattle.machine import info, launchers, paths, stopping
from wattle.run import directory as directories
from wattle.run import job, target
from wattle.run import mpi as mpi_jobs
from wattle.run.option_values import STDOUT, settings_of, with_budget
from wattle.text import console

if TYPE_CHECKING:
    from wattle.clocks import file as plans
    from wattle.meter_log.session import Session
    from wattle.record.manifest import Manifest
    from wattle.run.hosts import Hosts

REPEATS_MOST = 999
LABEL_MOST = 64
DEEPEST = 64  # WATTLE_CALL_PATHS
TIMELINE_BYTES = "2M"  # for each thread: 65,000 spans
# Needed after the job, so imported while it runs.
MEANWHILE = tuple(
    f"wattle.{name}" for name in ("text.rich_console", "record.profile", "run.view", "run.show", "run.finish")
)


class Asked(NamedTuple):
    """The program and the options of the command, as `run.cli.run` has them."""

    command: list[str]
    n: int | None = None
    hosts: str | None = None
    hostfile: Path | None = None
    output: Path | None = None
    repeat: int = 1
    label: str | None = None
    mpi: bool = False
    settings: list[str] | None = None
    meter: str | None = None
    machine: str | None = None
    plan: Path | None = None
    power_budget: str | None = None
    meter_log: Path | None = None
    meter_set: list[str] | None = None
    carbon: str | None = None
    metrics: Path | None = None
    stream: str | None = None
    stream_every: str = "1s"
    timeline: bool = False
    depth: int | None = None
    profile: bool = True
    json: bool = False


def run(asked: Asked) -> int:
    """Runs the program. Returns its exit code. Raises WattleError where it cannot be started."""
    command = asked.command
    by_name = launchers.is_launcher(command[0])
    mpi = asked.mpi or by_name
    if mpi:
        mpi_jobs.check(asked.n, asked.hosts, asked.hostfile)
    logged = None
    if asked.meter_log is not None or asked.meter_set:
        from wattle.meter_log import options as external_options

        logged = external_options.chosen(asked.meter_log, asked.meter_set)
        extras.require("--meter-log", "numpy")
    given = None if mpi else _hosts(asked)
    # The number of an MPI job comes from its profile.
    n = 1 if given is None else given.pes() if asked.n is None else asked.n
    _check_range("-n", n, limits.PES)
    _check_range("--repeat", asked.repeat, REPEATS_MOST)
    if asked.label is not None and not 1 <= len(asked.label) <= LABEL_MOST:
        raise WattleError(f"--label {shown(asked.label)}: expected 1 to {LABEL_MOST} characters")
    chosen = with_budget(
        _chosen_settings(asked.settings, asked.meter, asked.machine, asked.profile), asked.power_budget
    )
    if asked.depth is not None:
        if not 0 <= asked.depth <= DEEPEST:
            raise WattleError(f"--depth {asked.depth}: expected a number from 0 to {DEEPEST}")
        chosen["WATTLE_CALL_PATHS"] = str(asked.depth)
    grams = None
    if asked.carbon is not None:
        from wattle.figures import carbon as carbons

        grams = carbons.intensity(asked.carbon)
    if asked.metrics is not None:
        from wattle.text import openmetrics

        openmetrics.check(asked.metrics)
    if asked.timeline:
        extras.require("--timeline", "numpy", "otf2")
        if not asked.profile:
            raise WattleError("--timeline and --no-profile: a timeline is written with the profile; leave one out")
        chosen.setdefault("WATTLE_TIMELINE", os.environ.get("WATTLE_TIMELINE") or TIMELINE_BYTES)
        if chosen["WATTLE_TIMELINE"] == "0":
            raise WattleError("--timeline and WATTLE_TIMELINE=0: 0 keeps none; leave one out")
    clocks = None
    if asked.plan is not None:
        from wattle.clocks import file as plans

        clocks = plans.read(asked.plan)
        chosen |= _clocks_of(asked.plan, clocks, None if mpi else n, chosen)
    found = target.find(command[0]) if by_name else target.look_at(command[0], paths.find_home().runtime)
    if found.mpi:
        raise mpi_jobs.without_launcher(command[0], found.mpi, asked.n)
    environment = {**os.environ, **chosen}
    environment.pop("WATTLE_PROFILE_DIR", None)
    environment["OSHRUN_LEAVES_PROFILES"] = str(os.getpid())  # this command knows more about the ends, and writes them
    known = info.ask(environment)
    for name in chosen:
        info.check_name(name, list(known.values))
    info.check_machine(known)
    oshrun = str(paths.tool("oshrun"))
    if mpi:
        environment = mpi_jobs.environment_of(environment)
    lines = None
    if asked.stream is not None:
        from wattle.run import stream as streams

        lines = streams.opened(asked.stream, asked.stream_every, asked.json, programs=False)
    where = directories.prepare(asked.output, command[0])
    argv = command if given is None else [oshrun, "-n", str(n), *given.options, "--", *command]
    session = None
    if logged:
        from wattle.meter_log.session import Session

        session = Session(logged, where)
    errors = asked.json or asked.stream == STDOUT
    job_plan = _Plan(asked, argv, n, given, environment, known, chosen, errors, mpi, session, grams)
    with console.lenient():  # the program's exit code counts, even if no process reads this output
        if found.warning and asked.profile and not mpi:
            console.note(found.warning)
        try:
            if session:
                session.begin()
            if lines:
                lines.begin(environment)
            record = _run_all(job_plan, where, asked.repeat)
        except WattleError:  # the launcher or the meter cannot be started
            if asked.output is None and directories.is_bare(where):
                directories.drop(where)
            raise
        finally:
            if lines:
                lines.end()
        from wattle.run import finish

        if lines:
            finish.write_total(lines, where, record)
        if session and not record.extra.get("interrupted"):
            finish.read_meter(session, where, record)
        if clocks is not None:
            _say_other_size(clocks, record)
        if asked.metrics is not None:
            finish.write_metrics(asked.metrics, where)
        with finish.reported():
            is_slip = asked.output is None and asked.profile and directories.is_bare(where)
            finish.present(where, asked.json, is_slip, asked.depth)
        return record.exit_code or 0


def _hosts(asked: Asked) -> Hosts:
    from wattle.run import hosts  # MPI jobs do not need it

    return hosts.given(asked.hosts, asked.hostfile)


@dataclass(frozen=True)
class _Plan:
    """The settings that all repeats share."""

    asked: Asked
    argv: list[str]  # command line with the launcher
    n: int
    hosts: Hosts | None  # None: the launcher of an MPI job knows them
    environment: dict[str, str]
    known: info.Info
    chosen: dict[str, str]  # settings given by options
    output_to_errors: bool  # standard output of the program goes to standard error
    mpi: bool
    session: Session | None = None  # of an external meter
    grams_per_kwh: float | None = None

    def manifest(self) -> Manifest:
        from wattle.record import manifest  # not before the job

        values = {k: v for k, v in self.known.values.items() if k != "WATTLE_PROFILE_DIR"}
        machine = str(self.known.machine.get("name") or "")
        started = manifest.start("run", self.asked.command, self.n, settings=values, machine=machine)
        started.versions |= {"runtime": self.known.version, "pmix": self.known.pmix}
        started.meter = {"name": values.get("WATTLE_METER", ""), "why": ""}
        numbers = self.known.machine.get("numbers") or []
        title = str(self.known.machine.get("title") or "")
        started.extra = {
            "profile": self.asked.profile,
            "set": self.chosen,
            "machine_numbers": numbers,
            "machine_title": title,
        }
        if self.asked.label is not None:
            started.extra["label"] = self.asked.label
        if self.mpi:
            started.extra["mpi"] = True
        if self.grams_per_kwh is not None:
            started.extra["carbon_g_per_kwh"] = self.grams_per_kwh
        if self.hosts and self.hosts.hosts:
            started.extra["hosts"] = self.hosts.as_list()
        if self.hosts and (n_hosts := self.hosts.n_hosts(self.n)) is not None:
            started.extra["n_hosts"] = n_hosts
        return started


def _run_all(plan: _Plan, where: Path, repeat: int) -> Manifest:
    """Runs the program once or `repeat` times. The exit code is that of the first run that failed, or 0."""
    if repeat == 1:
        with _kept(where) as blocked:
            record = _run_once(plan, where, None, blocked)
        _write_timeline(plan, where, record)
        return record
    whole = plan.manifest()
    whole.extra["repeats"] = []
    started = time.monotonic()
    for k in range(repeat):
        name = f"repeat-{k + 1:03d}"
        console.note(f"repeat {k + 1} of {repeat}")
        with _kept(where) as blocked:
            latest = _run_once(plan, directories.make(where / name), _input_again(k), blocked)
            whole.exit_code, whole.wall_s = latest.exit_code, time.monotonic() - started
            whole.extra["repeats"] = [*whole.extra["repeats"], name]
            whole.meter = latest.meter
            whole.n_pes = latest.n_pes if latest.knows_n_pes else whole.n_pes
            whole.extra |= {key: latest.extra[key] for key in ("nodes",) if key in latest.extra}
            _keep_manifest(where, whole)
        _write_timeline(plan, where / name, latest)
        if whole.exit_code != 0:
            break
    return whole


@contextmanager
def _kept(where: Path) -> Iterator[Iterable[int]]:
    """Holds signals that ask for an end until the figures of a run are kept: a second Ctrl-C may come when the job has
    ended. Yields the signals that are blocked in the program.
    """
    try:
        with stopping.held() as blocked:
            yield blocked
    except KeyboardInterrupt:
        from wattle.run import finish

        console.note(f"interrupted after the job had ended; its figures are in {finish.short(where)}")
        raise


def _input_again(k: int) -> int:
    """Standard input for one of several runs, the same for all: a file from its start, any other input empty."""
    try:
        os.lseek(0, 0, os.SEEK_SET)
        return 0
    except OSError:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def _run_once(plan: _Plan, where: Path, stdin: int | None, blocked: Iterable[int]) -> Manifest:
    """Runs the program and keeps what it left. `blocked`: signals that are blocked in it."""
    environment = dict(plan.environment)
    if plan.asked.profile:
        environment["WATTLE_PROFILE_DIR"] = str(directories.profile_folder(where))
    began = time.time()
    records: list[Manifest] = []

    def meanwhile() -> None:
        records.append(plan.manifest())
        _keep_manifest(where, records[0])
        with suppress(ImportError):  # left to the command, which imports them again
            for name in MEANWHILE:
                importlib.import_module(name)
            from wattle.record import pe_file

            pe_file.expect()

    output = 2 if plan.output_to_errors else None
    outcome = job.run(plan.argv, environment, stdin, output, console.note, meanwhile, blocked)
    with stopping.impatient(lambda: _give_up(where)):
        _keep(plan, where, records[0], outcome, began)
    return records[0]


def _keep(plan: _Plan, where: Path, record: Manifest, outcome: job.Outcome, began: float) -> None:
    """Keeps what an ended job left. `began`: its start in seconds since 1970."""
    from wattle.run import finish

    if plan.session:
        plan.session.add(where.name if where != plan.session.directory else "", began, began + outcome.wall_s)
    if outcome.remains:
        console.note(f"ended {outcome.remains} process(es) that the job had left behind")
    record.wall_s, record.exit_code = outcome.wall_s, outcome.exit_code
    record.extra |= {"job_cpu_s": outcome.cpu_s, "interrupted": outcome.interrupts > 0}
    if outcome.asked_by:
        record.extra["asked_by"] = outcome.asked_by
    finish.add_slurm_energy(record, None, began, began + outcome.wall_s)
    if plan.asked.profile:
        finish.collect(where, plan.environment, outcome, record)
        finish.add_found(where, record)
    if plan.mpi and outcome.asked_by and not _ended_well(where, plan, outcome):
        record.exit_code = stopping.BY_SIGNAL + outcome.asked_by
    _keep_manifest(where, record)


def _ended_well(where: Path, plan: _Plan, outcome: job.Outcome) -> bool:
    from wattle.run import finish

    return outcome.exit_code == 0 and finish.all_finished(where, plan.asked.profile)


def _keep_manifest(where: Path, record: Manifest) -> None:
    from wattle.record import manifest  # not before the job

    manifest.keep(where, record)


def _give_up(where: Path) -> None:
    job.signal_all(signal.SIGKILL)
    console.error(f"interrupted again: the figures in {where} are incomplete")


def _write_timeline(plan: _Plan, where: Path, record: Manifest) -> None:
    if plan.asked.timeline:
        from wattle.run import finish

        finish.write_timeline(where, record, plan.known.machine)
        _keep_manifest(where, record)


def _say_other_size(clocks: plans.Plan, record: Manifest) -> None:
    """Reports a plan for another number of PEs. That of an MPI job is known only from its profile."""
    planned, n = clocks.n_pes, record.n_pes
    if "nodes" not in record.extra or n == planned:
        return
    from wattle.clocks import file as plans
    from wattle.text import units

    left = f"; not in the plan, so at the base clock: {record.noun} {plans.ranges(list(range(planned, n)))}"
    console.note(f"--plan: is for {units.several(planned, record.noun)}, this run had {n}{left if n > planned else ''}")


def _clocks_of(file: Path, found: plans.Plan, n: int | None, chosen: dict[str, str]) -> dict[str, str]:
    """The setting for a plan's clocks. `n`: None for an MPI program, which `_say_other_size` checks at the end."""
    if n is not None and found.n_pes != n:
        raise WattleError(f"--plan {file}: is for {found.n_pes} PEs, this run has {n}")
    if "WATTLE_CLOCKS" in chosen:
        raise WattleError(f"--plan {file} and --set WATTLE_CLOCKS: expected one of them")
    return {"WATTLE_CLOCKS": found.setting()}


def _check_range(option: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise WattleError(f"{option} {shown(value)}: expected 1 to {most}")


def _chosen_settings(pairs: list[str] | None, meter: str | None, machine: str | None, profile: bool) -> dict[str, str]:
    chosen = settings_of(pairs)
    if "WATTLE_PROFILE_DIR" in chosen:
        raise WattleError("--set WATTLE_PROFILE_DIR: `wattle run` sets it itself; give the run's directory with -o")
    if meter is not None:
        chosen["WATTLE_METER"] = meter
    if machine is not None:
        chosen["WATTLE_MACHINE"] = machine
    chosen["WATTLE_PROFILE"] = "on" if profile else "off"
    return chosen
