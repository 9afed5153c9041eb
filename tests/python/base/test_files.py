"""Files and folders that the lab makes: whole, never through a planted link, never two commands' at once."""

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tree import PACKAGE
from wattle.base import files
from wattle.base.errors import WattleError
from wattle.run import directory

LAB = PACKAGE / "wattle"
KNOWN_TOKEN = "0" * 16  # the random part of a name in a test that plants links there


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def victim(tmp_path):
    """A file that a link in a shared folder leads to."""
    file = tmp_path / "victim"
    file.write_text("mine", encoding="utf-8")
    return file


def test_a_file_is_written_whole_and_nothing_else_is_left(tmp_path):
    files.write_atomically(tmp_path / "a", "first")
    files.write_atomically(tmp_path / "a", b"second", durable=True)
    assert (tmp_path / "a").read_bytes() == b"second"
    assert names(tmp_path) == ["a"]


def test_a_failed_write_leaves_what_was_there(tmp_path):
    files.write_atomically(tmp_path / "a", "first")
    with pytest.raises(RuntimeError), files.writing(tmp_path / "a") as out:
        out.write(b"half")
        raise RuntimeError
    assert (tmp_path / "a").read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_atomically(tmp_path / "a", "")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["a.html", f".wattle-{KNOWN_TOKEN}.part"])
def test_a_planted_link_is_not_written_through(tmp_path, monkeypatch, victim, name):
    monkeypatch.setattr(files.os, "urandom", lambda n: bytes.fromhex(KNOWN_TOKEN))
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / name).symlink_to(victim)
    try:
        files.write_atomically(folder / "a.html", "report")
    except FileExistsError:
        assert name.endswith(".part"), "a link at the place itself is replaced"
    assert victim.read_text(encoding="utf-8") == "mine"


def test_a_report_is_not_written_through_a_link_that_someone_else_planted(tmp_path, victim, monkeypatch):
    from wattle.report import cli

    monkeypatch.setattr(cli, "build", lambda _: None)
    monkeypatch.setattr("wattle.html.page.render", lambda _: "report")
    for name in (".x.html.part", "x.html"):
        (tmp_path / name).symlink_to(victim)
    assert cli.write(tmp_path, tmp_path / "x.html").read_text(encoding="utf-8") == "report"
    assert victim.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_file_is_refused_and_left_alone(tmp_path, make):
    path = tmp_path / "a"
    make(path)
    with pytest.raises(OSError, match=r"regular file|directory"):
        files.write_atomically(path, "report")
    assert names(tmp_path) == ["a"] and not path.is_file()


def test_the_lab_writes_files_by_this_module_alone():
    """Others' names in shared folders are harmless only where all writing goes through one door."""
    writes = re.compile(r"\.write_text\(|\.write_bytes\(|\bopen\([^)]*[\"'][wax]b?\+?[\"']|\.part\b[\"'}]")
    allowed = {
        "base/files.py": "the module itself",
        "acceptance/trial.py": "output of steps, in a private folder (mkdtemp)",
        "shield/group.py": "control files of the kernel, which take one write",
    }
    for source in sorted(LAB.rglob("*.py")):
        name = str(source.relative_to(LAB))
        lines = source.read_text(encoding="utf-8").splitlines()
        found = [line for line in lines if writes.search(line) and "devnull" not in line and "NOWHERE" not in line]
        assert name in allowed or not found, f"{name}: {found}; use files.write_atomically or files.writing"


def test_a_program_built_before_is_started_only_if_no_other_user_could_have_written_it(tmp_path, monkeypatch):
    program = tmp_path / "put-0123"
    assert not files.is_ours(program)
    program.touch(0o755)
    assert files.is_ours(program)
    for mode in (0o775, 0o757, 0o644):
        program.chmod(mode)
        assert not files.is_ours(program)
    program.chmod(0o755)
    (tmp_path / "link").symlink_to(program)
    assert not files.is_ours(tmp_path / "link")
    if program.stat().st_uid:
        monkeypatch.setattr(os, "geteuid", lambda: program.stat().st_uid + 1)
        assert not files.is_ours(program)


def at_once(calls):
    """The result or exception of each call. All calls start at the same moment."""
    start = threading.Barrier(len(calls))

    def one(call):
        start.wait(30)
        try:
            return call()
        except WattleError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_commands_that_start_in_the_same_second_get_directories_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(directory.time, "strftime", lambda _: "20300101-000000")
    made = at_once([lambda: directory.prepare(None, "./prog")] * 16)
    assert len(set(made)) == 16 and all(path.is_dir() for path in made)


@pytest.mark.parametrize("is_there", [False, True])
def test_of_commands_that_are_given_the_same_new_directory_one_gets_it(tmp_path, is_there):
    wanted = tmp_path / "out"
    if is_there:
        wanted.mkdir()
    made = at_once([lambda: directory.prepare(wanted, "./prog")] * 8)
    assert [m for m in made if isinstance(m, Path)] == [wanted]
    assert all("another command" in str(m) for m in made if isinstance(m, WattleError))


def of_others(folder, monkeypatch):
    """Gives the folder, or the link, to another user. Without root, the test becomes another user instead."""
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534, follow_symlinks=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)


def a_link_of_others(folder, monkeypatch):
    (folder.parent / "elsewhere").mkdir(mode=0o755)
    folder.symlink_to("elsewhere")
    of_others(folder, monkeypatch)


def a_link_to_a_link_of_others(folder, monkeypatch):
    a_link_of_others(folder.parent / "second", monkeypatch)
    folder.symlink_to("second")


def a_folder_of_others(folder, monkeypatch):
    folder.mkdir(mode=0o755)
    of_others(folder, monkeypatch)


def a_folder_for_all(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o1777)


def a_folder_for_a_group(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o775)
    monkeypatch.setattr(files, "_group", lambda _: "students")


SHARED = {
    a_link_of_others: "belongs to the user",
    a_link_to_a_link_of_others: "belongs to the user",
    a_folder_of_others: "belongs to the user",
    a_folder_for_all: "every user may write to it",
    a_folder_for_a_group: "the group students may write to it",
}


@pytest.mark.parametrize("wanted", ["out", None])
@pytest.mark.parametrize("make", SHARED)
def test_a_directory_that_others_could_change_is_refused_and_left_unchanged(tmp_path, monkeypatch, make, wanted):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / (wanted or directory.PARENT), monkeypatch)
    with pytest.raises(WattleError, match=f"{SHARED[make]}.*; give another directory with -o") as refused:
        directory.prepare(wanted and Path(wanted), "./prog")
    assert refused.value.exit_code == 2
    assert not [
        path for path in tmp_path.rglob("*") if path.name not in ("out", directory.PARENT, "elsewhere", "second")
    ]


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_a_directory_that_this_user_made_is_taken_whatever_the_umask(tmp_path, monkeypatch, mask):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "_group", lambda _: "students")
    (tmp_path / "mine").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to("mine")
    before = os.umask(mask)
    try:
        made = [directory.prepare(None, "./prog") for _ in range(2)]
    finally:
        os.umask(before)
    made += [directory.prepare(Path("link"), "./prog")]
    assert not any(path.stat().st_mode & 0o022 for path in [*made, tmp_path / directory.PARENT])


def test_the_group_that_has_only_this_user_may_write(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_group", lambda _: "me")
    monkeypatch.setattr(files, "_user", lambda _: "me")
    tmp_path.chmod(0o770)
    files.check_ours(tmp_path)


def test_a_directory_is_free_again_once_its_command_has_ended(tmp_path):
    script = "import sys, pathlib; from wattle.run import directory; directory.prepare(pathlib.Path(sys.argv[1]), 'p')"
    environment = os.environ | {"PYTHONPATH": str(LAB.parent)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script, str(tmp_path / "out")], env=environment, check=True, timeout=300)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_no_file_takes_the_number_of_a_standard_stream_that_was_closed(environment, closed):
    script = "from wattle.text import console; console.fill_standard_streams(); import os; os._exit(os.open('/', 0))"
    done = subprocess.run(
        ["sh", "-c", f'"$1" -c "$2" {closed}', "sh", sys.executable, script], env=environment, check=False, timeout=300
    )
    assert done.returncode >= 3
