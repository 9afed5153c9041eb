"""The house rules: floors, one list of packages, pinned versions, generated pages."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from tree import ROOT

CHECK_FLOORS = ROOT / "tools" / "check_floors.py"


def check_floors(source: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(CHECK_FLOORS), str(source)], capture_output=True, text=True, check=False)


def tracked(*patterns: str) -> list[Path]:
    """Files under version control; the test that asks is skipped in a tree without one (an unpacked archive)."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", *patterns]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith(("#", "-r ")))


def test_rooms_include_only_rooms_on_lower_floors() -> None:
    done = check_floors(ROOT / "src")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("room", "header", "allowed"),
    [
        ("wait", "base/error.h", True),
        ("wait", "wait/door.h", True),
        ("base", "wait/door.h", False),
        ("power", "profile/profile.h", False),  # the same floor: the two know nothing of each other
        ("power/knob", "power/machine/machine.h", True),
        ("power/knob", "power/sensor/gauge.h", False),
        ("launch", "node/boot.h", True),
        ("node", "launch/oshrun.h", False),
    ],
)
def test_the_floor_check_catches_an_include_that_goes_up_or_sideways(
    tmp_path: Path, room: str, header: str, allowed: bool
) -> None:
    for name in ("base", "node", "power/sensor", "power/knob", "power/machine", "profile", "wait", "launch"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / room / "file.c").write_text(f'#include "{header}"\n', encoding="utf-8")
    done = check_floors(tmp_path)
    assert (done.returncode == 0) == allowed, done.stdout
    assert allowed or f"{room}/file.c:1" in done.stdout


def test_a_room_without_a_floor_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "attic").mkdir()
    assert "attic" in check_floors(tmp_path).stdout


RAW_WRITE = re.compile(
    r"(?<![\w>.:])(?:write|writev|dprintf|vdprintf|perror|send|sendto|sendmsg)\((?!.*MSG_NOSIGNAL).*"
    r"|\w*(?:printf|puts|putc|fwrite)\([^;]*\bstderr\b.*|\bfflush\w*\((?:NULL|stdout|stderr)\).*"
)
"""Writes that may go to a pipe or a socket, and then raise SIGPIPE."""


def raw_writes(source: str) -> list[str]:
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)
    code = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)
    if "sigpipe_hold()" in code or "hold_sigpipe()" in code:
        return []
    own = set(re.findall(r"^(?:static )?\w+ \*?(\w+)\(", code, flags=re.MULTILINE))  # functions of those names
    found = (match[0] for match in RAW_WRITE.finditer(code))
    return [line for line in found if line.partition("(")[0] not in own]


def test_no_write_of_the_library_can_end_a_program_by_sigpipe() -> None:
    """Our own programs (src/launch and so on) may end as others do when their output has no reader."""
    helpers = {"base/sigpipe.c", "sim/exit_message.cc"}
    programs = {"launch", "info", "calibrate"}
    found = {}
    for path in sorted((ROOT / "src").rglob("*")):
        name = path.relative_to(ROOT / "src")
        if path.suffix in {".c", ".h", ".cc"} and str(name) not in helpers and name.parts[0] not in programs:
            found[str(name)] = raw_writes(path.read_text(encoding="utf-8"))
    wrong = {name: lines for name, lines in found.items() if lines}
    assert not wrong, f"use wtl_write or wtl_sigpipe_hold (base/sigpipe.h), eventfd_write or MSG_NOSIGNAL: {wrong}"


@pytest.mark.parametrize(
    ("code", "is_raw"),
    [
        ("write(fd, text, n);", True),
        ('fprintf(stderr, "%d", n);', True),
        ("if (send(fd, text, n, 0) < 0) return;", True),
        ("fflush(stdout);", True),
        ("send(fd, text, n, MSG_NOSIGNAL);", False),
        ("wtl_write(fd, text, n);", False),
        ("os->write(fd, text);", False),
        ("/* a write(2) */ pwrite(fd, text, n, 0);", False),
        ("static void send(int pe);\nsend(pe);", False),
        ("before = wtl_sigpipe_hold();\nfflush(stdout);", False),
    ],
)
def test_raw_writes_are_distinguished_from_others(code: str, is_raw: bool) -> None:
    assert bool(raw_writes(code)) == is_raw


def test_a_circle_of_four_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    for here, there in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / "base" / f"{here}.h").write_text(f'#include "base/{there}.h"\n', encoding="utf-8")
    assert check_floors(tmp_path).returncode == 0, "three are allowed"
    (tmp_path / "base" / "c.h").write_text('#include "base/d.h"\n', encoding="utf-8")
    (tmp_path / "base" / "d.c").write_text('#include "base/a.h"\n', encoding="utf-8")
    (tmp_path / "base" / "d.h").write_text("", encoding="utf-8")
    assert "base/a, base/b, base/c, base/d" in check_floors(tmp_path).stdout


@pytest.mark.parametrize("script", ["check_floors.py", "check_lab_floors.py"])
def test_the_table_of_floors_in_contributing_is_made_from_the_check(script: str) -> None:
    command = [sys.executable, str(ROOT / "tools" / script), "--table"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_picture_of_the_architecture_is_made_from_the_code() -> None:
    script = [sys.executable, str(ROOT / "tools" / "architecture_picture.py")]
    drawn = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    kept = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    of_sizes = re.compile(r"[\d,]+ files, [\d,]+ lines")  # these change with every edit
    assert of_sizes.sub("", drawn) == of_sizes.sub("", kept), "run tools/architecture_picture.py --write"


def test_every_decision_has_number_status_and_date_and_stands_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for record in sorted(folder.glob("[0-9]*.md")):
        title, _, status = record.read_text(encoding="utf-8").split("\n", 3)[:3]
        number = int(record.name[:4])
        stated = re.fullmatch(r"Status: (.+)\. Date: (\d{4}-\d{2}-\d{2})\.", status)
        assert title.startswith(f"# {number}. ") and stated, f"{record.name}: {title!r}, {status!r}"
        assert f"| {number} | [{title.split('. ', 1)[1]}]({record.name}) | {stated[1]} | {stated[2]} |" in index


def test_no_basename_stands_twice_in_the_sources() -> None:
    names = [p.name for p in tracked("src/*.c", "src/*.h", "src/*.cc")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


LAB = ROOT / "python" / "wattle"


@pytest.mark.parametrize(
    ("file", "imports", "allowed"),
    [
        ("record/pe.py", "from wattle.text import units", True),
        ("text/units.py", "from wattle.record import pe", False),
        ("record/pe.py", "def late():\n    import wattle.figures.sites", False),
        ("html/page.py", "from wattle.timeline import rows", False),  # the same floor
        ("study/cli.py", "from wattle.run import job", True),
        ("study/cli.py", "from wattle import cli", False),
        ("run/cli.py", "from wattle.study import cli", False),  # a circle, with the next file
    ],
)
def test_a_folder_of_the_lab_imports_only_folders_below_it(
    file: str, imports: str, allowed: bool, tmp_path: Path
) -> None:
    files = {
        "text/units.py",
        "record/pe.py",
        "figures/sites.py",
        "timeline/rows.py",
        "run/job.py",
        "study/cli.py",
        "cli.py",
    }
    texts = dict.fromkeys(files, "") | {"study/hosts.py": "from wattle.run import job"} | {file: imports}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    script = [sys.executable, str(CHECK_FLOORS.with_name("check_lab_floors.py")), str(tmp_path)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == allowed, done.stdout


def test_every_file_of_the_lab_begins_with_what_it_does() -> None:
    without = [p for p in LAB.rglob("*.py") if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))]
    assert not without


READS = {"read_text", "read_bytes", "read_parquet", "scan_parquet", "read_parquet_schema"}
OF_SYSTEM = {  # files of Linux: /proc, /sys, /etc/hosts
    "acceptance/trial.py",
    "energy/cgroup.py",
    "energy/cpu_time.py",
    "machine/nodes.py",
    "machine/processor.py",
    "record/manifest.py",
    "run/process_ends.py",
    "run/reach.py",
    "run/stream.py",
    "shield/cores.py",
    "shield/group.py",
    "shield/others.py",
    "study/sweep/knob.py",
    "top/cli.py",
    "top/page.py",
    "top/rates.py",
}
OF_LAB = {"html/page.py", "reproduce/guidelines.py", "study/am/jobs.py", "study/papers.py", "study/program.py"}


def test_files_of_unknown_origin_have_one_reader() -> None:
    """A FIFO or a device would block a command, or fill the memory. The reader is input_files.py."""
    found = set()
    for path in LAB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS):
                continue
            is_checked = ast.unparse(node.func.value) == "input_files" or "BytesIO" in ast.unparse(node)
            if not is_checked:
                found.add(str(path.relative_to(LAB)))
    assert found == OF_SYSTEM | OF_LAB, "read files of users by wattle.base.input_files"


def test_every_line_of_the_package_list_names_a_package_and_a_known_section() -> None:
    lines = (ROOT / "packages" / "apt.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.replace("? ", "  ").split()[:2] for line in lines if line and not line.startswith("#")]
    assert {section for _, section in rows} == {
        "build",
        "run",
        "test",
        "docs",
        "bench",
        "dev",
        "bare",
        "packages",
        "rdma",
    }
    names = [name for name, _ in rows]
    assert len(rows) == len({tuple(row) for row in rows})
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name) for name in names)


def test_every_direct_dependency_is_pinned_to_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {"run": project["dependencies"], **project["optional-dependencies"]}
    core, lab, test, docs = (pins(f"requirements{part}.txt") for part in ("-core", "", "-test", "-docs"))
    run = core | lab
    of_extras = ((names["lab"], lab), (names["test"], run | test), (names["docs"], run | docs))
    for wanted, pinned in ((names["run"], core), *of_extras):
        for requirement in wanted:
            name = re.split(r"[<>=~ ]", requirement)[0]
            assert name in pinned, f"{name} has no pin"
    assert not set(core) & set(lab), "a package is pinned in two files"
    assert not set(run) & (set(test) | set(docs)), "a package is pinned in two files"
    assert all(test[name] == docs[name] for name in set(test) & set(docs)), "a package has two versions"


def test_the_changelog_begins_with_the_version_or_the_next_one() -> None:
    """tests/python/house/test_release.py compares the versions of the other files."""
    cmake = re.search(r"project\(wattle VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert cmake
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = changes.split("\n## [")[1]  # the version, or the next version that the first sentences announce
    assert newest.startswith(f"{cmake[1]}]") or re.match(rf"Unreleased\]\n\n[^#]*\b{re.escape(cmake[1])} ", newest)


def test_the_settings_page_is_up_to_date() -> None:
    script = [sys.executable, str(ROOT / "tools" / "settings_doc.py")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    if done.returncode == 69:
        pytest.skip("build/release is not built")
    assert done.returncode == 0, done.stderr


def test_links_inside_the_docs_lead_somewhere() -> None:
    for page in tracked("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


@pytest.mark.soak  # and `make lint`
@pytest.mark.timeout(1800)  # mypy takes minutes where it has no cache and the cores are busy
def test_python_sources_pass_mypy() -> None:
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_python_sources_pass_ruff() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    done = subprocess.run([str(ruff), "check", str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


SIMULATED = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\bWTL_SIM\b", flags=re.MULTILINE)
"""Conditionals on simulation."""


def test_few_files_ask_whether_this_is_a_simulation() -> None:
    """The port (src/os) has what differs between Linux, the threads build and simulation."""
    found = {}
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        name = path.relative_to(ROOT / "src")
        if name.parts[0] not in {"os", "sim"}:
            found[str(name)] = len(SIMULATED.findall(path.read_text(encoding="utf-8")))
    assert sum(found.values()) <= 10, {name: n for name, n in found.items() if n}
    assert found["wait/door.c"] == 0


def test_no_line_of_the_c_sources_is_longer_than_120_columns() -> None:
    sources = [
        f for folder in ("src", "include") for f in (ROOT / folder).rglob("*") if f.suffix in (".c", ".h", ".cc")
    ]
    long = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in sources
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert not long


def test_modules_of_tests_have_names_of_their_own() -> None:
    """pytest imports a test by its file name alone, and refuses the second file of that name."""
    count = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, files in count.items() if files > 1] == []
