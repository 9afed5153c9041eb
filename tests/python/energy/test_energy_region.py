"""`wattle.energy` measures a part of this process by the meter of `wattle energy`, and changes nothing in it."""

from __future__ import annotations

import asyncio
import csv
import inspect
import io
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import wattle
from test_energy_command import BUSY, KNOWN
from tree import HOME, PACKAGE


@pytest.fixture(autouse=True)
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of known watts, without a sensor. The folder of its /sys."""
    (tmp_path / "known.yaml").write_text(KNOWN)
    (tmp_path / "sys").mkdir()
    monkeypatch.setenv("WATTLE_HOME", str(HOME))
    monkeypatch.setenv("WATTLE_MACHINE", str(tmp_path / "known.yaml"))
    monkeypatch.setenv("WATTLE_SYSFS", str(tmp_path / "sys"))
    return tmp_path / "sys"


def busy(seconds: float = 0.02) -> None:
    """Computes for some CPU time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def is_of(energy: wattle.Energy, watts: float = 5.0) -> bool:
    """Whether the joules are those of the CPU time by the machine's watts."""
    return energy.domains["cpu"].joules == pytest.approx(watts * energy.cpu_s, rel=1e-6) and energy.cpu_s > 0


def test_modelled_joules_are_watts_times_cpu_time() -> None:
    with wattle.energy(name="solve") as e:
        busy()
        inside = e.joules
        busy()
    assert is_of(e)
    assert 0 < inside.joules < e.joules.joules
    assert (str(e.joules.provenance), e.meter, e.blocks, e.joules.domain) == ("modelled", "model", 1, "cpu")
    assert str(e.domains["dram"].provenance) == "unavailable"
    assert str(e).startswith("solve: ")


def test_a_sensor_is_divided_as_wattle_energy_divides_it(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zone = known / "class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(text + "\n")
    monkeypatch.setenv("WATTLE_METER", "powercap")
    with subprocess.Popen([HOME / "bin/wattle-meter"], stdin=-1, stdout=-1, text=True) as meter:
        meter.stdout.readline()
        with wattle.energy() as e:
            busy(1.0)
            (zone / "energy_uj").write_text("9000000\n")
        answer = json.loads(meter.communicate(f"{e.cpu_s!r}~0\n")[0])
    ours, theirs = e.domains["package-0"], answer["parts"][0]["figures"][0]
    assert e.parts["node"][0].joules == pytest.approx(8)
    assert str(e.parts["node"][0].provenance) == "measured"
    assert (str(ours.provenance), ours.source) == (theirs["provenance"], theirs["source"])
    # The CPU time of other programs is read at other moments; all the rest is the same.
    both = (ours.joules, e.measured.division.others_cpu_s, ours.interval_s)
    for share, of, seconds in (both, (theirs["joules"], answer["others_cpu_s"], theirs["interval_s"])):
        whole = 5 * (e.cpu_s + of)
        assert share == pytest.approx(8 * 5 * e.cpu_s / (whole + 10 * seconds), rel=0.02)


def test_blocks_add_up_and_common_time_counts_once() -> None:
    e = wattle.energy()
    with e:
        busy()
        with e:
            busy()
    first = e.cpu_s
    with e:
        busy()
    assert e.blocks == 3
    assert is_of(e)
    assert e.cpu_s > first
    assert e.domains["cpu"].interval_s is not None


def test_a_function_keeps_its_signature_result_and_errors() -> None:
    @wattle.energy
    def root(x: float, *, n: int = 2) -> float:
        """The root."""
        busy(0.001)
        return x ** (1 / n)

    @wattle.energy(name="fails")
    def fails() -> None:
        raise ValueError("mine")

    assert root(9.0) == root(27.0, n=3) == 3.0
    assert (root.__doc__, str(inspect.signature(root))) == ("The root.", "(x: 'float', *, n: 'int' = 2) -> 'float'")
    assert (root.energy.blocks, root.energy.name) == (2, root.__qualname__)
    assert is_of(root.energy)
    with pytest.raises(ValueError, match="mine"):
        fails()
    assert fails.energy.blocks == 1


def test_a_recursive_function_counts_from_its_outermost_call() -> None:
    @wattle.energy
    def down(n: int) -> int:
        busy(0.005)
        return down(n - 1) if n else 0

    before = time.process_time()
    down(3)
    assert down.energy.blocks == 4
    assert down.energy.cpu_s <= time.process_time() - before


def test_generators_and_coroutines_are_measured_up_to_their_end() -> None:
    @wattle.energy
    def values() -> object:
        for k in range(2):
            busy(0.005)
            yield k

    @wattle.energy
    async def work() -> int:
        await asyncio.sleep(0)
        busy(0.005)
        return 7

    async def both() -> list[int]:
        async with wattle.energy() as e:
            found = await asyncio.gather(work(), work())
        assert is_of(e)
        return found

    assert list(values()) == [0, 1]
    assert values.energy.cpu_s >= 0.01
    assert asyncio.run(both()) == [7, 7]
    assert work.energy.blocks == 2
    assert is_of(work.energy)


def test_threads_share_one_object() -> None:
    e = wattle.energy()

    def work() -> None:
        for _ in range(20):
            with e:
                busy(0.001)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert e.blocks == 60
    assert is_of(e)


def test_children_count() -> None:
    with wattle.energy() as ended:
        subprocess.run(["sh", "-c", BUSY], check=True)
    assert is_of(ended)
    child = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        with wattle.energy() as running:
            while running.cpu_s < 0.3:
                time.sleep(0.01)
    finally:
        child.kill()
        child.wait()
    assert is_of(running)


def test_no_thread_and_no_descriptor_is_left() -> None:
    with wattle.energy():  # loads the library
        pass
    threads, files = len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with wattle.energy():
        assert len(os.listdir("/proc/self/task")) == threads  # noqa: PTH208
    assert sorted(os.listdir("/proc/self/fd")) == files  # noqa: PTH208


def test_a_child_of_fork_leaves_the_block_of_its_parent_and_may_begin_its_own() -> None:
    read, write = os.pipe()
    with wattle.energy() as e:
        busy()
        child = os.fork()
        if child == 0:
            e.end()  # the parent's
            unknown = e.joules.known
            with e:
                busy()
            os.write(write, f"{unknown} {e.blocks} {is_of(e)}".encode())
            os._exit(0)
        os.waitpid(child, 0)
    os.close(write)
    with open(read) as found:  # noqa: PTH123
        assert found.read() == "False 1 True"
    assert is_of(e)
    assert e.blocks == 1


@wattle.energy
def in_worker(k: int) -> tuple[int, bool]:
    busy(0.005)
    return k, in_worker.energy.blocks >= 0


def test_workers_of_multiprocessing_measure_themselves() -> None:
    in_worker(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(in_worker, range(4)) == [(k, True) for k in range(4)]
    assert in_worker.energy.blocks == 1


def test_a_signal_handler_of_the_program_stays(known: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        with wattle.energy():
            os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1, signal.SIGUSR1]


def test_errors_have_the_words_of_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(wattle.WattleError, match=r"begin\(\) first"):
        wattle.energy().end()
    monkeypatch.setenv("WATTLE_METER", "sundial")
    with pytest.raises(wattle.WattleError, match="WATTLE_METER=sundial"), wattle.energy():
        pass
    monkeypatch.setenv("WATTLE_METER", "none")
    with wattle.energy() as e:
        busy(0.001)
    assert str(e.joules.provenance) == "unavailable"


def test_before_the_first_block_nothing_is_known() -> None:
    e = wattle.energy()
    assert (e.blocks, e.joules.known, e.domains) == (0, False, {})
    with pytest.raises(AttributeError, match="'Energy' object has no attribute 'watts'"):
        e.watts  # noqa: B018


def test_the_table_has_all_parts_with_their_provenance(tmp_path: Path) -> None:
    with wattle.energy(name="solve") as e:
        busy()
    text = e.csv(tmp_path / "energy.csv")
    assert (tmp_path / "energy.csv").read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["part"] for row in rows} == {"program", "idle", "node"}
    cpu = next(row for row in rows if (row["part"], row["domain"]) == ("program", "cpu"))
    assert float(cpu["joules"]) == e.domains["cpu"].joules
    assert float(cpu["joules_low"]) < float(cpu["joules"]) < float(cpu["joules_high"])
    unknown = next(row for row in rows if (row["part"], row["domain"]) == ("program", "dram"))
    assert (unknown["joules"], unknown["provenance"]) == ("", "unavailable")
    assert e.frame().columns == list(rows[0])


class Ranks:
    """A communicator of two ranks, of which this process is both in turn."""

    def __init__(self) -> None:
        self.rank = 0
        self._sent: list[bytes] = []

    def gather(self, mine: object, root: int) -> list[object] | None:
        self._sent.append(pickle.dumps(mine))
        return [pickle.loads(one) for one in self._sent] if self.rank == root else None


def test_shares_of_ranks_are_gathered_and_added() -> None:
    comm = Ranks()
    with wattle.energy(name="step") as e:
        busy()
    assert e.gather(comm, root=1) is None
    comm.rank = 1
    found = e.gather(comm, root=1)
    assert [one.rank for one in found.ranks] == [0, 1]
    assert found.joules.joules == pytest.approx(2 * e.joules.joules)
    assert {row["rank"] for row in csv.DictReader(io.StringIO(found.csv()))} == {"0", "1"}


def test_the_figures_are_printed_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with wattle.energy(name="solve", print_at_end=True):
        busy(0.001)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("solve: ")
    assert "modelled" in printed.err


def test_a_magic_measures_a_cell_and_keeps_its_error() -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed").InteractiveShell()
    wattle.load_ipython_extension(shell)
    shell.user_ns["busy"] = busy
    shell.run_cell_magic("wattle", "e", "busy()\nx = 7")
    assert (shell.user_ns["x"], is_of(shell.user_ns["e"])) == (7, True)
    with pytest.raises(ZeroDivisionError):
        shell.run_cell_magic("wattle", "", "1 / 0")
    with pytest.raises(ValueError, match="expected the name of a variable"):
        shell.run_cell_magic("wattle", "two words", "pass")


def test_the_import_of_the_package_is_enough_in_a_new_process() -> None:
    code = "import wattle\nwith wattle.energy() as e: pass\nprint(e.blocks)"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=-1, text=True, check=True)
    assert done.stdout == "1\n"
