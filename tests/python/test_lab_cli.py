"""The command as a whole: versions, help, errors of one line, output wherever it goes, where its parts are."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import fakes
import pytest
import wattle as package
from tree import ROOT
from wattle.base.errors import WattleError
from wattle.cli import main
from wattle.machine import paths
from wattle.machine.stopping import Stopped
from wattle.text import console, units


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def test_the_version_is_the_projects(home, capsys):
    assert call(capsys, "--version") == (0, f"wattle {package.__version__}\n", "")
    project = re.search(r"project\(wattle VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert project.group(1) == package.__version__


def test_versions_name_the_runtime_and_its_place(home, capsys):
    code, out, _ = call(capsys, "version", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["runtime"], found["pmix"], found["home"]) == ("0.1.0", "4.2.2", str(home))


def test_versions_are_there_without_a_runtime_too(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WATTLE_HOME", str(tmp_path))
    code, out, err = call(capsys, "version")
    assert code == 0
    assert "polars" in out
    assert "WATTLE_HOME" in err


@pytest.mark.parametrize(
    "command", [[], ["run"], ["doctor"], ["compare"], ["report"], ["calibrate"], ["study", "patterns"], ["version"]]
)
def test_help_fits_80_columns(home, capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    code, out, _ = call(capsys, *command, "--help")
    assert code == 0
    assert "Usage: wattle" in out
    assert "bool" not in out


@pytest.mark.parametrize("command", ["calibrate", "run", "top", "plan", "sim", "acceptance"])
def test_a_paragraph_of_help_is_broken_only_where_the_line_ends(home, capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = call(capsys, command, "--help")
    text = [line.strip() for line in out.split("\u256d")[0].splitlines()]
    pairs = [(line, after) for line, after in itertools.pairwise(text) if line and after]
    assert pairs
    for line, after in pairs:
        assert len(line) + 1 + len(after.split()[0]) > 78, line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--frobnicate"], "No such option: --frobnicate"),
        (["dance"], "No such command 'dance'"),
        (["compare", "/nowhere", "/nowhere"], "/nowhere: does not exist"),
        (["compare", "/dev/null", "/nowhere"], "/dev/null: is not a directory"),
        (["doctor", "now"], "unexpected extra argument"),
        (["run", "-n", "x", "true"], "-n / --np: expected a whole number; see `wattle run --help`"),
        (["run", "--repeat", "1.5", "true"], "--repeat: expected a whole number"),
        (["study", "patterns", "--min-time", "x"], "--min-time: expected a number"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(home, capsys, arguments, words):
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("wattle: ")
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize(
    ("stop", "code", "said"), [(KeyboardInterrupt(), 130, "interrupted"), (Stopped(15), 143, "ended by SIGTERM")]
)
def test_a_command_that_is_asked_to_stop_says_so_in_one_line(home, capsys, monkeypatch, stop, code, said):
    monkeypatch.setattr("wattle.machine.info.ask", lambda *_: (_ for _ in ()).throw(stop))
    assert call(capsys, "doctor") == (code, "", f"wattle: {said}\n")


@pytest.mark.parametrize("module", ["wattle.cli", "rich", "wattle.compare.cli", "atexit"])
def test_ctrl_c_at_any_moment_of_the_start_and_the_end_is_no_traceback(environment, module):
    """The signal comes when the module is imported, or when Python ends."""
    code = f"""
import atexit, os, signal, sys
def strike(*_): os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(self, name, *_):
        if name == "{module}": strike()
sys.meta_path.insert(0, Finder())
if "{module}" == "atexit": atexit.register(strike)
signal.signal(signal.SIGINT, signal.default_int_handler)
from wattle.__main__ import main
sys.argv = ["wattle", "compare", "a", "b"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (-signal.SIGINT, 128 + signal.SIGINT), done
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "", "."],
        ["compare", ".", ""],
        ["report", ""],
        ["history", ".", ""],
        ["advise", ""],
        ["plan", ""],
        ["sim", "--what-if", ""],
        ["run", "-o", "", "true"],
        ["run", "--metrics", "", "true"],
        ["study", "barrier", "-o", ""],
    ],
)
def test_an_empty_path_is_not_the_working_directory(home, capsys, arguments):
    code, out, err = call(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "the path is empty" in err


def test_a_removed_working_directory_is_named(environment, tmp_path):
    for arguments in (["run", "true"], ["run", "-o", tmp_path / "out", "true"], ["run", "--metrics", "file", "true"]):
        words = ["sh", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "sh", sys.executable, "-m", "wattle"]
        words += map(str, arguments)
        done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        said = "wattle: the working directory: No such file or directory; change to another one with cd\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_an_error_of_the_system_names_its_subject(home, capsys, monkeypatch):
    monkeypatch.setattr("wattle.machine.info.ask", lambda *_: (_ for _ in ()).throw(PermissionError(1, os.strerror(1))))
    code, _, err = call(capsys, "doctor")
    assert code == 2
    assert re.fullmatch(r"wattle: \w+ \(doctor/[a-z]+\.py, line \d+\): Operation not permitted\n", err), err


def test_tools_are_asked_without_a_null_device_too(home, capsys, monkeypatch, tmp_path):
    def doctor():
        code, out, err = call(capsys, "doctor")
        return code, re.sub(r"\S+ [KMGT]iB available *", "", out), err  # others take and give memory meanwhile

    with_it = doctor()
    monkeypatch.setattr("os.devnull", str(tmp_path / "null"))
    assert doctor() == with_it


def test_a_reader_that_goes_away_is_no_error_worth_a_word(environment):
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(
        [sys.executable, "-m", "wattle", "doctor"], env=environment, stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert result.stderr == b""
    assert result.returncode == 1


@pytest.mark.parametrize("arguments", ["--help", "doctor", "version", "machines --help"])
def test_a_reader_of_both_streams_that_goes_away_leaves_no_word_and_not_120(environment, arguments):
    """120 is Python's own code where it cannot flush a stream at its end."""
    line = f"{sys.executable} -m wattle {arguments} 2>&1 | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_locale_without_the_letters_is_no_crash(wattle):
    result = wattle("doctor", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert result.returncode == 0
    assert "Traceback" not in result.stderr


def test_colour_only_on_a_terminal_and_never_with_no_color(wattle):
    assert "\x1b" not in wattle("doctor").stdout
    assert "\x1b[3" not in wattle("doctor", env={"NO_COLOR": "1", "FORCE_COLOR": "1"}).stdout


def test_json_has_no_nan(capsys):
    console.print_json({"a": float("nan"), "b": [1.5, float("inf")], "c": Path("/x")})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1.5, None], "c": "/x"}


def test_an_error_is_one_line_and_its_brackets_are_no_markup(capsys):
    console.error("sites[0]: [red]wrong[/red]\nand more")
    assert capsys.readouterr().err == "wattle: sites[0]: [red]wrong[/red] and more\n"


def test_progress_off_a_terminal_is_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(console, "LINE_EVERY_S", 0.0)
    with console.progress("patterns", 3) as steps:
        steps.advance(now="PQPQ")
    assert "wattle: patterns: 1 of 3" in capsys.readouterr().err
    monkeypatch.setattr(console, "LINE_EVERY_S", 10.0)
    with console.progress("patterns", 3) as steps:
        steps.advance()
    assert capsys.readouterr().err == ""


def test_a_home_by_setting_is_binding(tmp_path, monkeypatch):
    monkeypatch.setenv("WATTLE_HOME", str(tmp_path))
    with pytest.raises(WattleError, match="no oshrun in its bin folder"):
        paths.find_home()


def test_a_prefix_gives_tools_and_shared_files(home):
    assert paths.tool("oshrun") == home / "bin" / "oshrun"
    assert paths.machines_dir() == home / "share" / "wattle" / "machines"
    with pytest.raises(WattleError, match="'bench' of Wattle is missing"):
        paths.bench_dir()


def test_a_missing_tool_is_named_with_its_remedy(home):
    (home / "bin" / "oshcc").unlink()
    with pytest.raises(WattleError, match=r"bin/oshcc is missing.*make build"):
        paths.tool("oshcc")


def test_a_build_tree_takes_shared_files_from_its_source(tmp_path, monkeypatch):
    tree = fakes.make_home(tmp_path / "source" / "build" / "release")
    (tree / "share" / "wattle" / "machines").rmdir()
    (tmp_path / "source" / "machines").mkdir()
    (tree / "CMakeCache.txt").write_text(f"A:BOOL=ON\nCMAKE_HOME_DIRECTORY:INTERNAL={tmp_path / 'source'}\n")
    monkeypatch.setenv("WATTLE_HOME", str(tree))
    assert paths.machines_dir() == tmp_path / "source" / "machines"


def test_another_openshmem_on_path_is_not_taken_for_ours(tmp_path, monkeypatch):
    fakes.script(tmp_path / "bin" / "oshrun", "#!/bin/sh\n")
    monkeypatch.delenv("WATTLE_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(paths.sys, "prefix", str(tmp_path / "nowhere"))
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "e" / "f" / "g" / "paths.py"))
    with pytest.raises(WattleError, match="oshrun was not found"):
        paths.find_home()


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (units.seconds, 0.0123, "12.3 ms"),
        (units.seconds, 0.0, "0 s"),
        (units.seconds, None, "-"),
        (units.seconds, 3e-9, "3.00 ns"),
        (units.seconds, 9.69e-13, "< 0.01 ns"),
        (units.seconds, -9.69e-13, "> -0.01 ns"),
        (units.seconds, 1e30, "1.00e+30 s"),
        (lambda value: units.si(value, "J"), 1e-20, "< 0.01 pJ"),
        (lambda value: units.scaled(value, (1.0, "s")), 1e30, "1.00e+30"),
        (units.size, 512, "512 B"),
        (units.size, 1.5 * 2**20, "1.50 MiB"),
        (units.count, 9876, "9,876"),
        (units.count, 12345, "12.3 k"),
        (units.count, 8_390_000, "8.39 M"),
        (units.percent, -12.34, "-12.3 %"),
        (units.percent, 250.0, "+250 %"),
        (units.percent, None, "-"),
        (units.share, 0.1234, "12.3 %"),
    ],
)
def test_numbers_read_well(form, value, text):
    assert form(value) == text


@pytest.mark.parametrize("command", ["run", "study", "compare", "report", "plan", "sim", "top", "doctor", "calibrate"])
def test_no_command_loads_scipy_before_it_has_something_to_ask_of_it(command, environment):
    """Its statistics take a second to load."""
    code = f"import sys; from wattle import cli; cli._add_commands(['{command}']); sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


@pytest.mark.parametrize("command", [["version"], ["version", "--json"], ["--help"], ["doctor", "--json"]])
def test_a_full_disk_is_one_line_and_exit_code_2(home, command):
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "wattle", *command]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    said = "wattle: output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_exit_codes_of_children_are_known_whatever_the_caller_ignores(environment):
    """Where SIGCHLD is ignored, Python takes every exit code for 0."""
    code = "import subprocess; from wattle.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass\n"
    words = ["env", "--ignore-signal=CHLD", sys.executable, "-c", code + "print(subprocess.call('false'))"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.splitlines()[-1] == "1", done
