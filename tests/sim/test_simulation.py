"""Programs in simulation: every kind of communication works, time and joules follow the machine's description, the same
run gives the same result bit for bit, and a deadlock names who waits where."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import fakes
import pytest
from sim_job import HOME, ROOT, build, command, environment, is_built, result, simulate, wattle
from wattle.sim import cluster as clusters

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated")
    build(folder, "all_kinds", "deadlock", "floats", "forever", "late", "looks", "one_leaves", "own_state", "puts")
    return build(folder, "gups", "halo", of=ROOT / "examples")


@pytest.mark.parametrize("n", [2, 7])
def test_every_kind_of_communication_works(programs: Path, tmp_path: Path, n: int) -> None:
    done = simulate(tmp_path / "run", programs / "all_kinds", n=n)
    assert done.returncode == 0 and done.stdout.startswith("good at "), done


def test_looking_lets_time_pass_and_nothing_overtakes(programs: Path, tmp_path: Path) -> None:
    """A PE that looks at its own memory, without a call, sees what others write there."""
    done = simulate(tmp_path / "run", programs / "looks", n=3)
    assert done.returncode == 0 and done.stdout == "saw it\n", done


def test_what_the_c_library_keeps_is_each_pes_own(programs: Path, tmp_path: Path) -> None:
    runs = [simulate(tmp_path / f"{k}", programs / "own_state", "-a", "-n", "42", "word", n=3) for k in range(2)]
    assert runs[0].returncode == 0 and runs[0].stdout.count("good\n") == 3, runs[0]
    assert runs[0].stdout == runs[1].stdout  # of clock() and getrusage, too


def test_the_floating_point_environment_is_each_pes_own(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "floats", "20", n=4)
    assert (done.returncode, done.stdout) == (0, "good\n" * 4), done


def test_many_pes_that_speak_each_to_each(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "gups", "--log-table", "10", "--updates", "1", n=64)
    assert done.returncode == 0 and done.stdout.endswith(": correct\n"), done


def test_the_study_of_patterns_runs_on_pairs_of_simulated_pes(tmp_path: Path) -> None:
    where = ("study", "patterns", "--quick", "--on", "sim", "--pes", "4", "--payload", "512", "--repeat", "1")
    done = wattle(*where, "-o", tmp_path / "study")
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "study/results.json").read_text())
    assert made["verified"] and (made["place"]["name"], made["place"]["pes"]) == ("sim", 4)


# The purpose of the simulator. The limits only end runs that hang.
@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("program", "n", "arguments"),
    [
        ("gups", 1024, ("--log-table", "16", "--updates", "1")),
        ("halo", 1024, ("--size", "2048", "--steps", "20")),
        ("late", 4096, ("1",)),
    ],
)
def test_thousands_of_pes(programs: Path, tmp_path: Path, program: str, n: int, arguments: tuple[str, ...]) -> None:
    done = simulate(tmp_path / "run", programs / program, *arguments, n=n, options=("--no-profile",), timeout=800)
    assert done.returncode == 0, done.stderr[-1000:]
    assert len(result(tmp_path / "run")["pes"]) == n


def test_the_same_run_has_the_same_result_bit_for_bit(programs: Path, tmp_path: Path) -> None:
    outputs = [simulate(tmp_path / name, programs / "all_kinds", n=5) for name in ("one", "two")]
    assert outputs[0].stdout == outputs[1].stdout
    assert (tmp_path / "one/simulation.json").read_bytes() == (tmp_path / "two/simulation.json").read_bytes()


def test_a_run_takes_no_longer_without_a_profile(programs: Path, tmp_path: Path) -> None:
    """Calls without counts do not sleep because of the waits of other calls."""
    took = []
    for name, options in (("with", ()), ("without", ("--no-profile",))):
        done = simulate(tmp_path / name, programs / "halo", "--size", "64", "--steps", "50", n=4, options=options)
        assert done.returncode == 0, done.stderr
        took.append(result(tmp_path / name)["simulated_s"])
    assert took[1] <= 1.05 * took[0]


def test_a_put_of_what_the_network_takes_at_once_needs_no_handshake(programs: Path, tmp_path: Path) -> None:
    def messages(size: int, times: int) -> int:
        where = tmp_path / f"{size}-{times}"
        done = simulate(where, programs / "puts", str(size), str(times), n=2)
        assert done.returncode == 0, done.stderr
        return json.loads((where / "simulation.json").read_text())["messages"]

    one = messages(65536, 1)
    assert messages(40000, 1) == messages(100000, 1) == one
    assert messages(65536, 65) - one <= 2 * 64  # each, and what says that it is done


def test_a_deadlock_names_the_call_and_the_line_of_each_pe(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "deadlock", n=3)
    assert done.returncode != 0
    assert re.search(r"shmem_long_wait_until at deadlock\.c:9: PE 0$", done.stderr, re.M), done.stderr
    assert re.search(r"shmem_barrier_all at deadlock\.c:10: PE 1-2$", done.stderr, re.M), done.stderr


def test_a_process_that_ended_but_is_waited_for_is_named(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "one_leaves", n=5)
    assert done.returncode != 0
    for words in (r"shmem_barrier_all at one_leaves\.c:17: PE 0,3-4$", "exit code 0: PE 2$", "exit code 3: PE 1$"):
        assert re.search(words, done.stderr, re.M), done.stderr
    assert done.stderr.count("PE 0") == 2, done.stderr  # once in the list of all waiting PEs, and once as the first


def test_a_pe_that_breaks_is_named(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "one_leaves", "break", n=3)
    assert done.returncode == 128 + signal.SIGSEGV
    assert "PE 1 failed: Segmentation fault" in done.stderr, done.stderr


COUNTS = """
#include <shmem.h>
#include <cstdio>
template <class T> struct Counter { static int n; };
template <class T> int Counter<T>::n = 0;
inline int inline_variable = 0;
inline int &in_function() { static int n = 0; return n; }
int main()
{
  shmem_init();
  for (int i = 0; i <= shmem_my_pe(); i++) Counter<int>::n++, inline_variable++, in_function()++;
  shmem_barrier_all();
  printf("PE %d: %d %d %d\\n", shmem_my_pe(), Counter<int>::n, inline_variable, in_function());
  shmem_finalize();
}
"""


def compile_cxx(folder: Path, name: str, text: str, *words: str | Path) -> Path:
    (folder / f"{name}.cc").write_text(text)
    command = [HOME / "bin/oshc++", "--sim", "-std=c++17", folder / f"{name}.cc", *words, "-o", folder / name]
    subprocess.run(command, check=True)
    return folder / name


def test_each_pe_has_its_own_statics_of_templates_and_inline_functions(tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", compile_cxx(tmp_path, "counts", COUNTS), n=3)
    said = [f"PE {pe}: {pe + 1} {pe + 1} {pe + 1}" for pe in range(3)]
    assert done.returncode == 0 and [line for line in done.stdout.splitlines() if "PE" in line] == said, done


def test_variables_that_the_compiler_has_all_pes_share_are_refused_by_name(tmp_path: Path) -> None:
    program = compile_cxx(tmp_path, "counts", COUNTS, "-fgnu-unique")
    done = simulate(tmp_path / "run", program, n=2)
    said = r"counts: all PEs would share (Counter<int>::n|inline_variable|in_function\(\)::n), .* oshc\+\+ --sim"
    assert done.returncode != 0 and re.search(said, done.stderr) and "PE 0:" not in done.stdout, done
    assert simulate(tmp_path / "alone", program, n=1).returncode == 0


OF_VECTOR = """#include <iostream>
#include <vector>
struct Base { virtual ~Base() = default; virtual int value() const { return 1; } };
struct Sum : Base {
  std::vector<int> terms{1};
  int value() const override { int sum = 0; for (int term : terms) sum += term; return sum; }
};
static int value_of(const Base &base) { return base.value(); }
extern "C" int next(void) { Sum sum; if (value_of(sum) != 1) std::cout << "no sum"; return value_of(sum); }
"""

LIBRARIES = {  # a library's text, and what of it all PEs would share
    "counts": ("int next(void) { static int calls; return ++calls; }\n", r"calls(\.\d+)?"),
    "exports": ("int table[4] = {1, 2};\nint next(void) { return table[0]; }\n", "table"),
    "threads": ("static _Thread_local int own;\nint next(void) { return ++own; }\n", "own"),
    "letter": ("static __thread int c;\nint next(void) { return ++c; }\n", "c"),
    "vector": (OF_VECTOR, None),
    "computes": ("static const int one = 1;\nint next(void) { return one; }\n", None),
}


USES = '#include <shmem.h>\nextern "C" int next(void);\nint main() { shmem_init(); return next() - 1; }\n'


def library_of(folder: Path, text: str, *compiler: str | Path) -> Path:
    source = folder / ("own.cc" if text is OF_VECTOR else "own.c")
    source.write_text(text)
    subprocess.run([*compiler, "-shared", "-fPIC", source, "-o", folder / "libown.so"], check=True)
    return folder / "libown.so"


OF_LIBRARIES = [*((name, False) for name in LIBRARIES), ("counts", True), ("vector", True)]


@pytest.mark.parametrize(("name", "stripped"), OF_LIBRARIES)
def test_a_library_whose_variables_all_pes_would_share_is_refused_by_name(
    name: str, stripped: bool, tmp_path: Path
) -> None:
    text, shared = LIBRARIES[name]
    strip = ["-s"] if stripped else []
    compiler = ["c++"] if text is OF_VECTOR else ["cc"]
    library = library_of(tmp_path, text, *compiler, *strip)
    done = simulate(tmp_path / "run", compile_cxx(tmp_path, "uses", USES, library, f"-Wl,-rpath,{tmp_path}"), n=2)
    if shared is None:
        assert done.returncode == 0, done
        return
    what = f"({shared}|variables)" if stripped else shared
    said = rf"all PEs would share {what}, of the shared library {re.escape(str(library))}: link"
    assert done.returncode != 0 and re.search(said, done.stderr), done


OF_RUNTIME = "#include <shmem.h>\nint next(void) { return shmem_my_pe() >= 0; }\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int count;\nint next(void) { return ++count; }\n", "share count, of"),
        (OF_RUNTIME, r"use PE 0's (shmem_my_pe|__sanitizer_cov_trace_pc) in calls of"),
    ],
    ids=["variable", "call"],
)
def test_a_library_that_oshcc_makes_is_refused_for_its_own_variables(text: str, said: str, tmp_path: Path) -> None:
    library = library_of(tmp_path, text, HOME / "bin/oshcc", "--sim")
    done = simulate(tmp_path / "run", compile_cxx(tmp_path, "uses", USES, library, f"-Wl,-rpath,{tmp_path}"), n=2)
    said = rf"all PEs would {said} the shared library {re.escape(str(library))}: link"
    assert done.returncode != 0 and re.search(said, done.stderr), done


LOADS = """#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
int main(int, char **words)
{
  shmem_init();
  void *library = dlopen(words[1], RTLD_NOW);
  auto next = library ? reinterpret_cast<int (*)()>(dlsym(library, "next")) : nullptr;
  if (!next) return puts(dlerror()), 2;
  shmem_barrier_all();
  printf("PE %d: %d\\n", shmem_my_pe(), next());
}
"""


@pytest.mark.parametrize("name", ["counts", "computes"])
def test_a_library_that_the_program_loads_itself_is_judged_the_same(name: str, tmp_path: Path) -> None:
    text, shared = LIBRARIES[name]
    library = library_of(tmp_path, text, "cc")
    program = compile_cxx(tmp_path, "loads", LOADS)
    done = simulate(tmp_path / "run", program, str(library), n=2)
    if shared is None:
        assert done.returncode == 0 and "PE 1: 1" in done.stdout, done
        return
    said = rf"loads: all PEs would share {shared}, of the shared library {re.escape(str(library))}: link"
    assert done.returncode != 0 and re.search(said, done.stderr) and "PE 0:" not in done.stdout, done
    assert simulate(tmp_path / "alone", program, str(library), n=1).returncode == 0


def test_what_cannot_be_simulated_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "empty").touch(mode=0o755)
    done = simulate(tmp_path / "run", tmp_path / "empty")
    assert done.returncode != 0 and "not a program built by oshcc --sim: file too short" in done.stderr, done.stderr
    done = simulate(tmp_path / "run2", tmp_path / "empty", options=("--set", "WATTLE_KNOB=cpufreq"))
    assert done.returncode != 0 and "WATTLE_KNOB=cpufreq is for real machines" in done.stderr, done.stderr


def test_a_slip_leaves_no_directory(programs: Path, tmp_path: Path) -> None:
    for program in (tmp_path / "nowhere", Path("/bin/true")):
        words = [sys.executable, "-m", "wattle", "sim", "-n", "2", str(program)]
        done = subprocess.run(words, env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode != 0 and str(program.resolve()) in done.stderr, done
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["2>&1 | true", ">/dev/full"])
def test_the_exit_code_is_the_programs_if_the_output_has_no_reader(programs: Path, tmp_path: Path, output: str) -> None:
    line = (
        f"{shlex.join([*command(tmp_path / 'run', 2), str(programs / 'all_kinds')])} {output}; exit ${{PIPESTATUS[0]}}"
    )
    assert subprocess.run(["bash", "-c", line], env=environment(), timeout=300, check=False).returncode == 0


def test_a_clusters_own_keys_override_those_of_its_network(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    number = "value = {}\nplus_minus = 0\nunit = 's'\ntag = 'assumed'\nhow = 'for a test'\n"
    network = clusters.read("sandybridge-ib").numbers
    path.write_text(
        "title = 'own'\nmachine = 'sandybridge-e5-2670'\ncores = 'sandybridge-e5-2670'\nnetwork = 'infiniband-qdr'\n"
        f"[latency]\n{number.format(0.5)}[message]\n{number.format(0.25)}"
    )
    own = clusters.read(str(path))
    assert own.value("latency") == 0.5
    assert (own.value("message"), own.value("receive")) == (0.25, 0.25)  # where nothing else is said
    assert own.numbers["bandwidth"] == network["bandwidth"]


def test_an_interrupted_simulation_ends_and_says_so(programs: Path, tmp_path: Path) -> None:
    words = [*command(tmp_path / "run", 3), str(programs / "forever")]
    options = {"env": environment(), "text": True, "start_new_session": True, "preexec_fn": fakes.heed_signals}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as job:
        assert job.stdout and job.stdout.readline() == "began\n"
        os.killpg(job.pid, signal.SIGINT)
        _, said = job.communicate(timeout=300)
    assert job.returncode == 130 and said.startswith("wattle: interrupted") and said.count("\n") == 1, said


def late(done: subprocess.CompletedProcess[str]) -> tuple[float, float]:
    found = re.search(r"waited ([0-9.]+) computed ([0-9.]+)", done.stdout)
    assert found, done
    return float(found[1]), float(found[2])


def test_a_wait_lasts_as_long_as_the_late_pe_sleeps(programs: Path, tmp_path: Path) -> None:
    waited, _ = late(simulate(tmp_path / "run", programs / "late", "40", n=4))
    assert 0.040 < waited < 0.041


def test_spinning_costs_more_joules_than_sleeping_and_as_much_time(programs: Path, tmp_path: Path) -> None:
    joules, ends = {}, {}
    for how in ("spin", "sleep"):
        simulate(tmp_path / how, programs / "late", "40", n=2, options=("--set", f"WATTLE_WAIT={how}"))
        found = result(tmp_path / how)
        joules[how] = [pe["cpu_j"] for pe in found["pes"]]
        ends[how] = found["simulated_s"]
    assert ends["sleep"] == pytest.approx(ends["spin"], rel=0.05)
    # PE 1 waits 40 ms: sandybridge-e5-2670 has 12.064 W for spinning, 0 W for sleep
    assert joules["spin"][1] - joules["sleep"][1] == pytest.approx(12.064 * 0.040, rel=0.1)
