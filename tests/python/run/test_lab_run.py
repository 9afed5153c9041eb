"""`wattle run` is transparent: streams, exit code and signals are the program's; nothing is left of the job."""

import errno
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import fakes
import pytest
from wattle import cli
from wattle.base import files
from wattle.machine import launchers
from wattle.record import runs
from wattle.run import directory, pe_tables, target
from wattle.run.view import view

NOT_OURS = "is not linked with libwattle-shmem"


@pytest.fixture
def profiles(tmp_path):
    """The files that the fake launcher leaves for a job of two PEs."""
    return {"FAKE_PROFILES": str(fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(0), fakes.pe_profile(1)]))}


@pytest.fixture
def program(tmp_path):
    """Makes a program from a line of shell; a script, so nothing is said of how it is linked."""

    def make(text):
        return str(fakes.script(tmp_path / "program", f"#!/bin/sh\n{text}\n"))

    return make


def test_streams_pass_through_and_the_tables_go_to_standard_error(wattle, program, profiles):
    shell = program('[ "$FAKE_PE" = 0 ] && cat; echo bad >&2')
    result = wattle("run", "-n", 2, "--", shell, env=profiles, stdin=None, input="to the program\n")
    assert result.returncode == 0
    assert result.stdout == "to the program\n"
    assert "bad\n" in result.stderr
    for words in (
        "By PE",
        "Costliest call sites",
        "shmem_double_put",
        "modelled",
        "of that idle",
        "Mean power of the node: cpu",
        "Node, cpu",
        "Kept in",
    ):
        assert words in result.stderr


def test_a_preloaded_library_that_prints_disturbs_no_tool_of_the_lab(wattle, program, profiles, tmp_path):
    source = tmp_path / "prints.c"
    source.write_text(
        '#include <unistd.h>\n__attribute__((constructor)) static void say(void) { write(1, "here\\n", 5); }'
    )
    library = tmp_path / "prints.so"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True, stderr=subprocess.DEVNULL)
    result = wattle("run", "-n", 2, "--", program("true"), env=profiles | {"LD_PRELOAD": str(library)})
    assert result.returncode == 0, result.stderr
    assert "here\n" in result.stdout  # the job's processes have it
    assert "By PE" in result.stderr


def test_the_table_fits_80_columns_and_has_no_colour_when_piped(wattle, program, profiles):
    result = wattle("run", "-n", 2, program("true"), env=profiles | {"FORCE_COLOR": "", "NO_COLOR": "1"})
    lines = [line for line in result.stderr.splitlines() if "Kept in" not in line and "start to end" not in line]
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize(("ends", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("kill -SEGV $$", 139)])
def test_the_exit_code_is_the_programs(wattle, program, ends, code):
    result = wattle("run", "--", program(ends))
    assert result.returncode == code
    assert "No PE left a profile" in result.stderr


PLACES = ("2>/dev/full", ">/dev/full", "2>&-", ">&-", "| true")
OF_BOTH_STREAMS = (">/dev/full 2>&1", ">&- 2>&-", "2>&1 | true")
UNREAD = [("", where) for where in (*PLACES, *OF_BOTH_STREAMS)]
UNREAD += [(options, where) for options in ("--json", "--repeat 2") for where in OF_BOTH_STREAMS]


@pytest.mark.parametrize(("options", "where"), UNREAD)
def test_the_exit_code_is_the_programs_if_the_report_has_no_reader(environment, profiles, tmp_path, where, options):
    program = fakes.script(tmp_path / "program", '#!/bin/sh\n[ "$FAKE_PE" = 0 ] || exit 0\ntouch ran\nexit 7\n')
    line = f"{shlex.quote(sys.executable)} -m wattle run -n 2 {options} -- {program} {where}"
    shell = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(
        shell, env=environment | profiles, cwd=tmp_path, capture_output=True, timeout=300, check=False
    )
    assert (done.returncode, (tmp_path / "ran").exists()) == (7, True), done.stderr
    assert b"Traceback" not in done.stderr and b"Exception" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("run", "./nosuch"), ("report", "nosuch"), ("run", "--nosuch", "x"), ("run", "-o", "/dev/null", "true")],
)
def test_a_refusal_without_a_reader_has_its_exit_code(environment, tmp_path, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "wattle", *arguments]
    done = subprocess.run(words, env=environment, cwd=tmp_path, stdout=writer, stderr=writer, check=False)
    os.close(writer)
    assert done.returncode == 2


def test_json_that_cannot_be_written_is_reported(environment, profiles, program, tmp_path):
    words = [sys.executable, "-m", "wattle", "run", "-n", "2", "--json", "--", program("exit 0")]
    facts = {"env": environment | profiles, "cwd": tmp_path, "stderr": subprocess.PIPE, "text": True}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, timeout=300, check=False, **facts)
    said = "wattle: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (0, said)


def test_a_machine_profile_that_is_not_there_is_reported_before_anything_is_made(home, wattle, program, tmp_path):
    broken = fakes.INFO | {"machine": {"error": 'no machine profile "bogus"; give "auto"'}}
    (home / "bin" / "info.json").write_text(json.dumps(broken))
    result = wattle("run", "--machine", "bogus", "--", program("echo ran"))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == 'wattle: no machine profile "bogus"; give "auto"\n'
    assert list((tmp_path / "work").iterdir()) == []


def test_a_wrong_setting_leaves_no_directory(wattle, program, tmp_path):
    result = wattle("run", "--set", "WATTLE_WAIT=nap", "--", program("echo ran"))
    assert (result.returncode, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert list((tmp_path / "work").iterdir()) == []


def test_a_job_that_did_not_start_is_not_called_killed(wattle, program):
    result = wattle("run", "--", program("exit 78"))
    assert result.returncode == 78
    assert "The program did not start" in result.stderr
    assert "left a profile" not in result.stderr


def test_joules_that_may_be_nothing_are_a_range_in_a_table_of_their_own(wattle, program, tmp_path):
    unsure = [fakes.figure("cpu", 343e-6, uncertainty=413e-6), fakes.figure("dram", 2.0)]
    ready = fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(0, 1, joules=unsure, node=None)])
    result = wattle("run", program("true"), env={"FAKE_PROFILES": str(ready), "NO_COLOR": "1"})
    assert "343 (0–756)" in result.stderr
    assert "Joules by PE" in result.stderr


def test_a_launcher_killed_by_a_signal_is_128_and_the_signal(wattle, program):
    assert wattle("run", "--", program("kill -KILL $PPID; sleep 5")).returncode == 128 + signal.SIGKILL


def test_what_follows_the_program_belongs_to_it(wattle, program):
    result = wattle("run", program('printf "%s " "$@"'), "-n", "--json", "--help")
    assert result.stdout == "-n --json --help "


def test_json_is_the_only_thing_on_standard_output(wattle, program, profiles, tmp_path):
    result = wattle("run", "-n", 2, "--json", "-o", tmp_path / "out", "--", program("echo hello"), env=profiles)
    document = json.loads(result.stdout)
    assert "hello\nhello\n" in result.stderr
    assert document["total"]["cpu_s"] == pytest.approx(3.1)
    assert [pe["pe"] for pe in document["pes"]] == [0, 1]
    assert document["missing"] == []
    assert {j["provenance"] for pe in document["pes"] for j in pe["joules"]} == {"modelled"}
    assert document["sites"][0]["where"] == "halo+0x1157"
    assert document["manifest"]["settings"]["WATTLE_WAIT"] == "adaptive"
    written = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (written["exit_code"], written["n_pes"], written["meter"]["name"]) == (0, 2, "model")


def test_pes_without_a_profile_are_named(wattle, program, tmp_path):
    some = fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(1, 4), fakes.pe_profile(2, 4)])
    result = wattle("run", "-n", 4, "--", program("true"), env={"FAKE_PROFILES": str(some)})
    assert "No profile from PE 0, 3" in result.stderr
    assert [line.split()[-2:] for line in result.stderr.splitlines() if line.startswith("these")] == [["-", "-"]]


def test_a_damaged_profile_hides_neither_the_others_nor_the_exit_code(wattle, program, tmp_path):
    folder = fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(0), fakes.pe_profile(1)])
    (folder / "pe-00001.json").write_text('{"schema": 1')
    result = wattle("run", "-n", 2, "--", program("exit 3"), env={"FAKE_PROFILES": str(folder)})
    assert result.returncode == 3
    assert "PE 1's profile is damaged" in result.stderr
    assert "By PE" in result.stderr


def test_no_profile_means_none(wattle, program, profiles, tmp_path):
    result = wattle(
        "run", "--no-profile", "-o", tmp_path / "out", program('echo "$WATTLE_PROFILE:$WATTLE_PROFILE_DIR"')
    )
    assert result.stdout == "off:\n"
    assert not (tmp_path / "out" / "profile").exists()
    assert "By PE" not in result.stderr


def test_settings_reach_the_program(wattle, program):
    shell = program('echo "$WATTLE_WAIT $WATTLE_METER $WATTLE_MACHINE"')
    result = wattle("run", "--set", "WATTLE_WAIT=spin", "--meter", "model", "--machine", "unknown", shell)
    assert result.stdout == "spin model unknown\n"


def test_repeats_give_median_and_spread(wattle, program, profiles, tmp_path):
    source = tmp_path / "input"
    source.write_text("line\n")
    with source.open() as stdin:
        shell = program('[ "$FAKE_PE" = 0 ] && cat; true')
        result = wattle("run", "-n", 2, "--repeat", 3, "-o", tmp_path / "out", shell, env=profiles, stdin=stdin)
    assert result.stdout == "line\n" * 3
    assert "Over 3 repeats" in result.stderr
    assert sorted(p.name for p in (tmp_path / "out").glob("repeat-*")) == ["repeat-001", "repeat-002", "repeat-003"]


def test_repeats_stop_at_the_first_failure(wattle, program, tmp_path):
    result = wattle("run", "--repeat", 3, "-o", tmp_path / "out", program("exit 4"))
    assert result.returncode == 4
    assert len(list((tmp_path / "out").glob("repeat-*"))) == 1


BAD = [
    (["run"], "Missing argument"),
    (["run", "-n", "0", "true"], "-n 0: expected 1 to"),
    (["run", "-n", "100000", "true"], "-n 100000: expected 1 to"),
    (["run", "-n", "two", "true"], "-n / --np: expected a whole number"),
    (["run", "-n", "9" * 5000, "true"], "-n / --np: expected a whole number"),
    (["sim", "-n", "9" * 5000, "true"], "-n / --np: expected a whole number"),
    (["run", "--repeat", "0", "true"], "--repeat 0: expected 1 to"),
    (["run", "--frobnicate", "true"], "No such option: --frobnicate"),
    (["run", "./nowhere"], "./nowhere: No such file or directory"),
    (["run", "no-such-program-at-all"], "no-such-program-at-all: not found on PATH"),
    (["run", "/"], "/: is a directory"),
    (["run", "/proc/version"], "/proc/version: is not executable"),
    (["run", "-o", "/dev/null", "true"], "/dev/null: is not a directory"),
    (["run", "--set", "WATTLE_WAIT", "true"], "--set WATTLE_WAIT: expected NAME=VALUE"),
    (["run", "--set", "WATTLE_WAIT=dream", "true"], "WATTLE_WAIT=dream: expected one of spin"),
    (["run", "--set", "WATTLE_WAITT=spin", "true"], "did you mean WATTLE_WAIT?"),
    (["run", "--set", "WATTLE_PROFILE_DIR=/x", "true"], "give the run's directory with -o"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(a)[:60] for a, _ in BAD])
def test_bad_usage_is_one_line_and_exit_code_2(home, tmp_path, monkeypatch, capsys, arguments, words):
    from wattle.cli import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.startswith("wattle: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    assert not (tmp_path / "wattle-runs").exists()


def test_a_directory_that_holds_something_is_left_alone(wattle, program, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").touch()
    result = wattle("run", "-o", tmp_path / "full", program("echo started"))
    assert result.returncode == 2
    assert "is not empty" in result.stderr
    assert result.stdout == ""


def test_a_full_disk_is_found_before_the_program_starts(tmp_path, monkeypatch):
    free = os.statvfs(tmp_path)
    full = os.statvfs_result((*free[:3], 0, 0, *free[5:]))
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    for wanted in (tmp_path / "new" / "inner", tmp_path / "there", None):
        with pytest.raises(directory.WattleError, match="free on this disk"):
            directory.prepare(wanted, "program")
    assert list(tmp_path.iterdir()) == [tmp_path / "there"]


def test_a_limit_on_the_size_of_files_is_named_as_such(tmp_path):
    words = "import pathlib; from wattle.run import directory; directory.prepare(pathlib.Path('new'), 'program')"
    line = f"ulimit -f 0; exec {shlex.quote(sys.executable)} -B -c {shlex.quote(words)}"
    facts = os.environ | {"PYTHONPATH": str(Path(files.__file__).parents[1])}
    done = subprocess.run(["bash", "-c", line], env=facts, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "raise it with `ulimit -f`" in done.stderr and "another directory" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_to_is_found_before(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    with pytest.raises(directory.WattleError, match="permission denied"):
        directory.prepare(tmp_path / "locked" / "new", "program")


def test_a_umask_without_the_owners_bits_is_the_programs_alone(environment, tmp_path):
    words = [sys.executable, "-m", "wattle", "run", "-o", "run", "--", "sh", "-c", "umask"]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, umask=0o777)
    assert (done.returncode, done.stdout) == (0, "0777\n"), done
    assert all(path.stat().st_mode & 0o400 for path in (tmp_path / "run", *(tmp_path / "run").iterdir()))


def test_default_directories_never_collide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {directory.prepare(None, "../some/prog ram") for _ in range(3)}
    assert len(made) == 3
    assert all(d.parent.name == "wattle-runs" and d.name.startswith("prog_ram-") for d in made)


def test_for_a_program_of_another_library_the_missing_profile_is_announced(wattle):
    result = wattle("run", "true")
    assert NOT_OURS in result.stderr
    assert "--mpi" not in result.stderr
    assert result.returncode == 0


@pytest.mark.parametrize(("options", "noun", "missing"), [((), "PE", [0]), (("--mpi",), "rank", [])])
def test_sums_over_no_profile_are_null_and_not_zero(home, wattle, options, noun, missing):
    (home / "lib").mkdir()
    (home / "lib/libwattle-mpi.so").touch()
    ended = wattle("run", "--json", *options, "true")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    sums = {**found["total"], **found["total"]["time_s"], **found["total"]["state_s"], **found["total"]["bytes"]}
    assert {key for key, value in sums.items() if value == 0} == {"pes"}
    assert found["missing"] == missing
    assert found["compute_intensity"]["why"] == f"{noun}s left no profile"


@pytest.mark.parametrize("library", ["libmpi.so.40", "libmpich.so.12", "libmpi_mpifh.so.40"])
def test_an_mpi_program_without_a_launcher_is_an_error_that_names_one(monkeypatch, capsys, home, tmp_path, library):
    program = tmp_path / "prog"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    kind, says = (
        ("MPICH", "HYDRA build details:\nVersion: 4.0") if "mpich" in library else ("Open MPI", "(Open MPI) 5.0")
    )
    fakes.script(tmp_path / "bin/mpirun", f"#!/bin/sh\necho '{says}'\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(target.elf, "libraries", lambda path, last: {library: f"/x/{library}"})
    monkeypatch.chdir(tmp_path)
    for options, n in ((["-n", "2"], "2"), (["--mpi"], "N"), (["--no-profile"], "N")):
        with pytest.raises(SystemExit) as ended:
            cli.main(["run", *options, str(program)])
        said = capsys.readouterr().err
        assert ended.value.code == 2
        assert f"is an MPI program ({kind})" in said
        assert f"`wattle run --mpi -- mpirun -n {n} {program}`" in said
        assert "Debian" not in said
    (tmp_path / "bin/mpirun").unlink()
    with pytest.raises(SystemExit):
        cli.main(["run", str(program)])
    assert f"no launcher of {kind} is on PATH (Debian: " in capsys.readouterr().err
    assert not (tmp_path / "wattle-runs").exists()


@pytest.mark.parametrize(
    ("program", "is_one"),
    [
        ("mpirun", True),
        ("/opt/mpich/bin/mpiexec.hydra", True),
        ("mpirun.openmpi", True),
        ("srun", True),
        ("oshrun", True),
        ("./mpirun.py", False),
        ("mpiprog", False),
        ("run", False),
    ],
)
def test_launchers_are_known_by_their_names(program, is_one):
    assert launchers.is_launcher(program) is is_one


def test_a_launcher_is_run_as_with_mpi(home, wattle, tmp_path):
    """Its processes get the library, and root is allowed as oshrun allows it."""
    (home / "lib").mkdir()
    (home / "lib" / "libwattle-mpi.so").touch()
    names = "LD_PRELOAD|WATTLE_PROFILE_DIR|ALLOW_RUN_AS_ROOT"
    launcher = fakes.script(tmp_path / "bin/mpirun", f"#!/bin/sh\nenv | grep -E '{names}'; echo $#\n")
    result = wattle("run", "--", launcher, "-n", 2, "./app")
    assert result.returncode == 0, result.stderr
    assert f"LD_PRELOAD={home}/lib/libwattle-mpi.so" in result.stdout
    assert "WATTLE_PROFILE_DIR=" in result.stdout
    assert result.stdout.endswith("3\n")
    root = {f"{of}_ALLOW_RUN_AS_ROOT{end}=1" for of in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
    assert {line for line in result.stdout.splitlines() if "AS_ROOT" in line} == (root if os.geteuid() == 0 else set())
    result = wattle("run", "-n", 2, "--", launcher, "./app")
    assert (result.returncode, result.stdout) == (2, "")
    assert "-n 2: the launcher decides that" in result.stderr


@pytest.mark.parametrize("ends", ["exit 0", "exit 3", "kill -9 $$"])
@pytest.mark.parametrize("options", [[], ["--repeat", 2]])
def test_a_run_without_a_profile_leaves_no_directory(wattle, program, tmp_path, ends, options):
    result = wattle("run", *options, program(ends))
    assert "No PE left a profile" in result.stderr
    assert "Kept in" not in result.stderr
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize("options", [[], ["--repeat", 2]])
def test_the_json_of_a_run_without_a_profile_names_no_directory(wattle, program, tmp_path, options):
    result = wattle("run", "--json", *options, program("exit 3"))
    document = json.loads(result.stdout)
    assert (result.returncode, document["exit_code"], document["directory"]) == (3, 3, None)
    assert list((tmp_path / "work").iterdir()) == []


def test_a_directory_with_a_name_from_the_user_or_without_a_profile_by_wish_is_kept(wattle, program, tmp_path):
    assert "Kept in" in wattle("run", "-o", "mine", program("exit 3")).stderr
    assert "Kept in" in wattle("run", "--no-profile", program("exit 3")).stderr
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["mine", "wattle-runs"]


def test_a_launcher_that_cannot_be_started_leaves_no_directory(wattle, tmp_path, home):
    (home / "lib").mkdir()
    (home / "lib" / "libwattle-mpi.so").touch()
    broken = fakes.script(tmp_path / "mpirun", "#!/no/such/shell\n")
    result = wattle("run", "--", broken, "./app")
    assert result.returncode == 2
    assert "cannot be started" in result.stderr
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize(
    ("shows_idle", "calls", "known"),
    [(False, 10, False), (True, 10, True), (False, 1_000_000, True)],  # the last are too short for a sleep
)
def test_the_first_sentence_names_calls_that_do_not_show_whether_they_wait(
    wattle, program, tmp_path, shows_idle, calls, known
):
    fence = fakes.site(call="MPI_Win_fence", kind="wait", calls=calls, time_s=1.0)
    start = fakes.site(0x1300, "MPI_Isend", calls=10, time_s=0.5)
    changes = {
        "api": "mpi",
        "mpi": {"library": "an MPI", "transport": None, "why": "", "paths": "", "shows_idle": shows_idle},
        "state_s": {"active": 2.0, "spin": 0.0, "yield": 0.0, "asleep": 0.0},
        "time_s": {"compute": 0.5, "transfer": 1.5, "wait": 0.0},
        "sites": [fence, start],
    }
    folder = fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(pe, **changes) for pe in range(2)])
    result = wattle("run", "-n", 2, program("true"), env={"FAKE_PROFILES": str(folder)})
    said = " ".join(result.stderr.split())
    assert "Waiting is 0.0 % of the ranks' time" in said
    assert ("there is nothing to gain" in said) == known
    hidden = (
        "Another 50.0 % of the ranks' time is in calls in which this MPI does not show whether it waits, 100 % of it"
    )
    assert (f"{hidden} in MPI_Win_fence at" in said) != known


def test_tables_of_mpi_programs_say_rank(wattle, program, tmp_path):
    pes = [fakes.pe_profile(0) | {"api": "mpi"}, fakes.pe_profile(1) | {"api": "mpi"}]
    folder = fakes.write_profiles(tmp_path / "ready", pes)
    result = wattle("run", "-n", 2, "-o", "run", program("true"), env={"FAKE_PROFILES": str(folder)})
    assert "By rank" in result.stderr
    assert "on 2 ranks" in result.stderr
    assert "of the ranks' time is slack" in result.stderr
    assert not re.search(r"\bPEs?\b", result.stderr), result.stderr
    assert "sums over ranks" in wattle("compare", "run", "run").stdout
    assert wattle("report", "run", "-o", "page.html").returncode == 0
    page = (tmp_path / "work/page.html").read_text()
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    assert "By rank" in shown
    assert not re.search(r"\bPEs?\b", shown), re.findall(r".*\bPEs?\b.*", shown)


def test_a_program_whose_library_is_gone_is_an_error_before_it_starts(monkeypatch, tmp_path):
    program = tmp_path / "prog"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    monkeypatch.setattr(target.elf, "libraries", lambda path, last: {"libwattle-shmem.so.0": None})
    with pytest.raises(target.WattleError, match=r"libwattle-shmem\.so\.0 is not found"):
        target.look_at(str(program))
    monkeypatch.setattr(target.elf, "libraries", lambda path, last: {"libwattle-shmem.so.0": "/x/libwattle-shmem.so.0"})
    assert target.look_at(str(program)).warning == ""


def test_a_program_is_refused_only_where_its_loader_does_not_find_the_library(monkeypatch, tmp_path):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    built, moved, program = tmp_path / "built", tmp_path / "moved", tmp_path / "prog"
    built.mkdir()
    library = built / "libwattle-shmem.so.0"
    words = ["cc", "-shared", "-Wl,-soname,libwattle-shmem.so.0", "-x", "c", "-", "-o", str(library)]
    subprocess.run(words, input="int pes(void) { return 1; }", text=True, check=True)

    def link(runpath: Path | str) -> None:
        words = ["cc", "-x", "c", "-", "-x", "none", str(library), f"-Wl,-rpath,{runpath}", "-o", str(program)]
        subprocess.run(words, input="int pes(void); int main(void) { return !pes(); }", text=True, check=True)

    link(built)
    assert target.look_at(str(program)).warning == ""
    link("$ORIGIN/moved")
    (tmp_path / "other").mkdir()
    link_to_it, elsewhere = tmp_path / "other/link", tmp_path / "other/prog"
    elsewhere.write_bytes(program.read_bytes())
    elsewhere.chmod(0o755)
    built.rename(moved)
    link_to_it.symlink_to(program)
    for path in (program, link_to_it):
        assert target.look_at(str(path)).warning == ""
        assert subprocess.run([path], check=False).returncode == 0
    with pytest.raises(target.WattleError, match=r"libwattle-shmem\.so\.0 is not found"):
        target.look_at(str(elsewhere))
    assert target.look_at(str(elsewhere), moved).warning == ""
    assert os.environ.get("LD_LIBRARY_PATH") is None
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{moved}")
    assert target.look_at(str(elsewhere)).warning == ""
    assert subprocess.run([elsewhere], check=False).returncode == 0


def start(environment, folder, shell, *options, **settings):
    """Starts `wattle run` of a shell line that writes `ready` once it runs; waits for that."""
    fakes.script(folder / "job", f"#!/bin/sh\n{shell}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "wattle", "run", *options, "--", "./job"],
        env=environment | settings,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        preexec_fn=fakes.heed_signals,
    )
    until(lambda: (folder / "ready").exists() or process.poll() is not None)
    return process


def until(holds, limit_s=120.0):
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def alive(folder, name):
    """The process that wrote its id into a file."""
    path = Path("/proc") / (folder / name).read_text().strip()
    try:
        return (path / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def exec_launcher(home):
    """A launcher that becomes the program, so that the program sees what the launcher is sent."""
    fakes.script(home / "bin" / "oshrun", '#!/bin/sh\nshift 3\nexec "$@"\n')


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_signals_are_passed_on_and_the_programs_answer_is_the_exit_code(exec_launcher, environment, tmp_path, name):
    short = name.removeprefix("SIG")
    shell = f"trap 'echo got {short}; exit 42' {short}; touch ready; while :; do sleep 0.05; done"
    process = start(environment, tmp_path, shell)
    process.send_signal(getattr(signal, name))
    out, _ = process.communicate(timeout=300)
    assert (out, process.returncode) == (f"got {short}\n", 42)


def test_a_question_is_passed_on_although_the_job_keeps_open_what_only_looks_like_a_page(
    exec_launcher, environment, tmp_path
):
    """A read of it would wait for ever, and all signals with it."""
    fifo = "'memfd:wattle-live (deleted)'"
    process = start(environment, tmp_path, f"mkfifo {fifo}; exec 3<>{fifo}; touch ready; exec sleep 30")
    process.send_signal(signal.SIGQUIT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 128 + signal.SIGQUIT, err


def test_death_by_a_passed_on_signal_is_128_and_the_signal(exec_launcher, environment, tmp_path):
    process = start(environment, tmp_path, "touch ready; exec sleep 30")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in err
    assert "Interrupted: nothing to show" in err
    assert "left a profile" not in err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
@pytest.mark.parametrize("code", [0, 1, 15])
def test_an_mpi_job_that_a_signal_ended_is_128_and_the_signal_whatever_its_launcher_says(
    home, environment, tmp_path, name, code
):
    (home / "lib").mkdir()
    (home / "lib" / "libwattle-mpi.so").touch()
    shell = f"trap 'exit {code}' {name.removeprefix('SIG')}; touch ready; while :; do sleep 0.05; done"
    process = start(environment, tmp_path, shell, "--mpi", "-o", "out")
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=300)
    assert process.returncode == 128 + getattr(signal, name), err
    assert json.loads((tmp_path / "out/manifest.json").read_text())["exit_code"] == process.returncode


def test_an_mpi_job_whose_processes_all_finished_before_the_signal_keeps_its_exit_code(home, environment, tmp_path):
    (home / "lib").mkdir()
    (home / "lib" / "libwattle-mpi.so").touch()
    copy = 'cp "$FAKE_PROFILES"/pe-*.json "$WATTLE_PROFILE_DIR"'
    shell = f"{copy}; trap 'exit 0' TERM; touch ready; while :; do sleep 0.05; done"
    left = fakes.write_profiles(tmp_path / "left", [fakes.pe_profile(0), fakes.pe_profile(1)])
    process = start(environment, tmp_path, shell, "--mpi", FAKE_PROFILES=str(left))
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err


@pytest.mark.parametrize("options", [[], ["--repeat", 2], ["--timeline"]])
def test_the_exit_code_is_the_programs_where_the_disk_is_full_by_then(
    home, program, tmp_path, monkeypatch, capsys, options
):
    monkeypatch.chdir(tmp_path)
    written = files.write_atomically

    def full(path, *more, **named):
        if (tmp_path / "ran").exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written(path, *more, **named)

    monkeypatch.setattr(files, "write_atomically", full)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", *map(str, options), "--", program(f"touch {tmp_path}/ran; exit 7")])
    assert ended.value.code == 7
    assert "cannot be written: No space left on device" in capsys.readouterr().err


@pytest.mark.parametrize("lost", ["rm -r out", "rm -r out/profile", "rm -r out; touch out", "chmod 0 out"])
def test_the_exit_code_is_the_programs_where_its_directory_is_lost(wattle, program, tmp_path, lost):
    options = ["--json", "--timeline", "--metrics", "metrics", "--stream", "stream"]
    result = wattle("run", *options, "-o", tmp_path / "out", "--", program(f"cd {tmp_path}; {lost}"))
    (tmp_path / "out").exists() and (tmp_path / "out").chmod(0o700)
    assert result.returncode == 0 and "wattle: " in result.stderr, result
    assert "Traceback" not in result.stderr, result


def test_a_second_interrupt_ends_a_job_that_will_not_listen(exec_launcher, environment, tmp_path):
    shell = "trap 'touch heard' INT; echo $$ > pid; touch ready; while :; do sleep 0.05; done"
    process = start(environment, tmp_path, shell)
    process.send_signal(signal.SIGINT)
    until(lambda: (tmp_path / "heard").exists() or process.poll() is not None)  # two that wait are one to the kernel
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 128 + signal.SIGKILL
    assert "interrupted again" in err
    assert not alive(tmp_path, "pid")


def test_what_the_launcher_leaves_behind_is_ended(exec_launcher, environment, tmp_path):
    stubborn = "trap '' TERM HUP; echo $$ > pid; touch ready; while :; do sleep 0.05; done"
    shell = f"setsid sh -c {shlex.quote(stubborn)} >/dev/null 2>&1 & while [ ! -e ready ]; do sleep 0.01; done; exit 0"
    process = start(environment, tmp_path, shell)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "left behind" in err
    assert not alive(tmp_path, "pid")


def test_the_job_ends_when_the_lab_is_killed(exec_launcher, environment, tmp_path):
    process = start(environment, tmp_path, "echo $$ > pid; touch ready; exec sleep 30")
    process.kill()
    process.wait(timeout=300)
    process.stdout.close()
    process.stderr.close()
    until(lambda: not alive(tmp_path, "pid"))


def test_nothing_that_starts_threads_is_loaded_before_the_job(environment):
    """Another thread would catch the signals that are to be passed on."""
    code = (
        "import importlib, sys; from wattle import cli; cli._add_commands(['run']);"
        "from wattle.run.command import MEANWHILE; [importlib.import_module(name) for name in MEANWHILE];"
        "sys.exit(str({'polars', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.stderr == "set()\n"


def test_modules_that_only_show_results_are_imported_while_the_job_runs(environment, program, tmp_path):
    """Importing them takes as long as an empty job."""
    code = (
        "import sys; from wattle import cli; from wattle.run import command as run, job; whole = job.run\n"
        "def watched(*given):\n"
        "    before = {'rich', *run.MEANWHILE} & set(sys.modules)\n"
        "    ended = whole(*given)\n"
        "    assert not before, before\n"
        "    assert not (late := set(run.MEANWHILE) - set(sys.modules)), late\n"
        "    return ended\n"
        "job.run = watched; cli.main()"
    )
    command = [sys.executable, "-c", code, "run", "--", program("sleep 1")]
    result = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_sampled_times_that_cannot_be_are_pointed_out(wattle, program, tmp_path):
    wild = fakes.pe_profile(1, sites=[fakes.site(time_s=99.0)])
    folder = fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(0), wild])
    result = wattle("run", "-n", 2, program("true"), env={"FAKE_PROFILES": str(folder)})
    assert "Call sites of PE 1 add up to more than its time" in result.stderr


def test_an_interrupt_from_the_terminal_reaches_the_program_once(exec_launcher, environment, tmp_path):
    """The terminal sends it to the whole foreground group; passing it on as well would make it two."""
    count = "n=0; trap 'n=$((n + 1)); touch got' INT; touch ready; while [ ! -e got ]; do sleep 0.05; done; sleep 0.3"
    fakes.script(tmp_path / "job", f"#!/bin/sh\n{count}; exit $n\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(sys.executable, [sys.executable, "-m", "wattle", "run", "./job"], environment)
    until((tmp_path / "ready").exists)
    os.write(terminal, b"\x03")
    while True:
        try:
            if not os.read(terminal, 4096):
                break
        except OSError:  # the other end is closed
            break
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def test_of_many_pes_those_that_waited_most_and_least_are_shown(tmp_path):
    n = 40
    profiles = [fakes.pe_profile(0, n) | {"pe": pe} for pe in range(n)]
    for pe, one in enumerate(profiles):
        one["time_s"]["wait"] = float(pe)
    found = view(runs.load(fakes.make_run(tmp_path / "r", profiles)))
    shown = [cell for cell in pe_tables.pe_table(found, 80).columns[0].cells if cell.isdigit()]
    assert shown == [str(pe) for pe in [*range(12), *range(28, 40)]]
