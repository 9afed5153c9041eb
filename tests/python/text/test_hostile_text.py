"""Text from files, processes and other users is only shown. It does not act on the terminal and stops no command."""

import ast
import fcntl
import json
import os
import re
from pathlib import Path

import fakes
import pytest
import studies
from rich.text import Text
from tree import ROOT
from wattle.cli import main
from wattle.text import console, tables
from wattle.text.console import plain, styled
from wattle.text.visible import INVISIBLE, visible
from wattle.top import page

HOSTILE = [
    "[/x]",
    "[bold]",
    "[link=http://x]y[/link]",
    "\x1b]0;x\x07",
    "\x1b[2J",
    "\x9b31m",
    "\u202eevil",
    "a\nwattle: forged",
    "a\rb",
    "tail\\",
    "x" * 10_000,
    "\udcff",
    "\ud800",
    "\U000e0041",
    "{} {0}",
    "--ink",
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    ":warning:",
]
ALL = "".join(text for text in HOSTILE if len(text) < 1000)
TEXT = ALL.replace("\udcff", "").replace("\ud800", "")  # characters that a UTF-8 file may contain
SEEN = re.compile(f"(?!\n)[{INVISIBLE}]")
KEYS = {  # of a run's files: those whose text is anyone's
    *("host", "name", "cpu", "kernel", "program", "path", "source", "scope", "why", "domain", "machine", "command"),
    *("call", "build_id", "title", "wattle", "rich"),
}


def poison(value, text, key=""):
    """The document with this text wherever a name or a remark stands."""
    if isinstance(value, dict):
        return {k: poison(v, text, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poison(v, text, key) for v in value]
    return text if isinstance(value, str) and key in KEYS else value


def poisoned_run(folder, text):
    fakes.make_run(folder, extra_remark=text)
    for file in folder.rglob("*.json"):
        file.write_text(json.dumps(poison(json.loads(file.read_text()), text)))
    return folder


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([os.fsdecode(a) if isinstance(a, bytes) else str(a) for a in arguments])
    said = capsys.readouterr()
    for stream in (said.out, said.err):
        assert not SEEN.search(stream), (arguments[0], SEEN.search(stream))
    assert "Traceback" not in said.err
    return ended.value.code, said.out, said.err


# ---- the console ----


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_shown_as_text_in_every_way_there_is(capsys, text):
    table = tables.table(title=text, caption=text)
    table.add_column(text)
    table.add_row(text)
    for words in (text, plain(text, "bad"), styled("[title]{}[/title] {}", text, text), table, Text(text)):
        console.out.print(words)
    console.out.rule(text)
    console.error(text)
    console.note(text)
    said = capsys.readouterr()
    assert not SEEN.search(said.out + said.err)
    assert said.out.startswith(visible(text)[:40]), "and it is there"


def test_what_cannot_be_seen_is_written_out():
    assert visible("\x1b]0;x\x07\n\t\u202e\x9b\udcff\ud800\U000e0041") == (
        "\\x1b]0;x\\x07\\n\\t\\u202e\\x9b\\xff\\ud800\\U000e0041"
    )
    assert visible("a\nb\x1b", lines=True) == "a\nb\\x1b"
    assert visible("µ ± é 日本 \\x1b") == "µ ± é 日本 \\x1b"


def test_values_take_their_places_in_a_template_and_its_styles():
    words = styled("[bad]{}[/bad] and [good]x{}[/good]{}", "[/x]", plain("b", "faint"), "\ue000")
    assert words.plain == "[/x] and xb\ue000"
    styles = {(span.start, span.end, str(span.style)) for span in words.spans}
    assert {(0, 4, "bad"), (9, 11, "good"), (10, 11, "faint")} <= styles
    with pytest.raises(ValueError, match="places"):
        styled("{}")


def test_json_is_valid_and_acts_on_no_terminal():
    text = console.json_text({ALL: [ALL, float("nan")]})
    assert not SEEN.search(text)
    text.encode()
    read = json.loads(text)
    ((key, (value, none)),) = read.items()
    assert key == value and none is None
    assert value == ALL.replace("\udcff", "\\xff").replace("\ud800", "\\ud800")


# ---- the house ----


def sources():
    return sorted([*(ROOT / "python" / "wattle").rglob("*.py"), *(ROOT / "bench").glob("*.py")])


def test_rich_is_known_to_the_console_and_to_tables_alone():
    """With Rich itself, text would be markup again."""
    for source in sources():
        if source.name in ("console.py", "rich_console.py", "tables.py"):
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "rich" for name in names), f"{source}:{node.lineno}"


def test_templates_are_written_where_they_are_used():
    for source in sources():
        if source.name in ("console.py", "rich_console.py"):
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "styled":
                assert isinstance(node.args[0], ast.Constant), f"{source}:{node.lineno}: not a plain string"
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("from_markup", "from_ansi", "print_"):
                raise AssertionError(f"{source}:{node.lineno}: markup past console.styled")


def test_nothing_is_printed_past_the_console():
    allowed = {
        "console.py": "the console",
        "ucx_probe.py": "a program of its own, which the doctor reads",
        "libfabric_probe.py": "another one",
    }
    for source in sources():
        if source.name in allowed:
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "sys.stdout.write", "sys.stderr.write"), f"{source}:{node.lineno}"


# ---- the commands ----


@pytest.fixture
def hostile_info(home):
    """Poisoned output of wattle-info."""
    info = poison(fakes.INFO, TEXT) | {"version": TEXT, "pmix": TEXT}
    keep = [row["name"] for row in fakes.INFO["settings"]]
    settings = [
        row | {"name": name, "value": TEXT, "help": TEXT, "choices": TEXT}
        for row, name in zip(fakes.INFO["settings"], keep, strict=True)
    ]
    meters = [meter | {"why": TEXT, "grant": TEXT} for meter in fakes.INFO["meters"]]
    (home / "bin" / "info.json").write_text(json.dumps(info | {"settings": settings, "meters": meters}))
    return home


@pytest.mark.parametrize("text", [ALL, TEXT, *[text for text in HOSTILE if text not in TEXT]], ids=range(5))
def test_report_and_compare_show_a_run_of_any_text(home, tmp_path, capsys, text):
    before, after = poisoned_run(tmp_path / "before", text), poisoned_run(tmp_path / "after", text)
    compare = ["compare", before, after]
    history = ["history", before, after, "--html", tmp_path / "history.html"]
    for words in (compare, [*compare, "--json"], [*compare, "--markdown"], history, ["report", before]):
        code, _, err = call(capsys, *words)
        assert code in (0, 2), err
    for made in filter(Path.exists, (before / "report.html", tmp_path / "history.html")):
        html = made.read_text(encoding="utf-8")
        assert "<img src=x" not in html and "<script>alert" not in html
        assert not SEEN.search(re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL))


def test_a_report_of_hostile_text_is_made(home, tmp_path, capsys):
    """So that the tests above test something."""
    code, _, err = call(capsys, "report", poisoned_run(tmp_path / "run", TEXT))
    assert code == 0, err
    html = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert "&lt;img src=x" in html and "\\x1b]0;x\\x07" in html


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_run_shows_profiles_of_any_text(home, tmp_path, capsys, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    ready = [poison(fakes.pe_profile(pe), TEXT) for pe in (0, 1)]
    monkeypatch.setenv("FAKE_PROFILES", str(fakes.write_profiles(tmp_path / "ready", ready)))
    program = fakes.script(tmp_path / "program", "#!/bin/sh\nexit 7\n")
    code, out, err = call(capsys, "run", "-n", 2, *options, "--", program, ALL.replace("\ud800", ""))
    assert code == 7, err
    assert options or "\\x1b]0;x\\x07" in err
    assert not options or json.loads(out)["pes"]


@pytest.mark.parametrize("words", [["doctor"], ["doctor", "--json"], ["version"], ["version", "--json"]])
def test_doctor_and_version_show_any_text(hostile_info, capsys, words):
    code, out, err = call(capsys, *words)
    assert code in (0, 1), err
    assert "forged" in out
    assert "--json" not in words or json.loads(out)


def test_a_study_of_any_text_is_shown(home, tmp_path, capsys):
    folder = studies.make_study(tmp_path / "study")
    file = folder / "manifest.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps(poison(record, TEXT) | {"study": record["study"]}))
    code, _, err = call(capsys, "report", folder)
    assert code == 0, err
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert "&lt;img src=x" in html and "<img src=x" not in html
    assert call(capsys, "compare", folder, folder)[0] == 0


def test_arguments_and_names_of_files_are_shown_as_text(home, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = ALL.replace("/", "_").replace("\ud800", "")[:60]
    folder = poisoned_run(tmp_path / name, "x")
    assert call(capsys, "report", folder)[0] == 0
    for words in (["report", "no" + name], ["plan", "no" + name], ["run", "./no" + name], ["sim", "-n", 2, name]):
        assert call(capsys, *words)[0] == 2
    for words in (["top", name], ["--" + name], ["run", "-n", name], ["study", name], ["run", "--set", name, "true"]):
        assert call(capsys, *words)[0] == 2


# ---- programs and arguments that are not UTF-8 ----


def test_a_program_and_arguments_that_are_not_utf8_are_run_and_carried(home, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = fakes.script(tmp_path / os.fsdecode(b"pr\xffog"), '#!/bin/sh\nprintf "%s" "$1" > got\nexit 7\n')
    (tmp_path / os.fsdecode(b"o\xfeut")).mkdir()
    out = tmp_path / os.fsdecode(b"o\xfeut") / "run"
    code, _, err = call(capfd, "run", "-o", out, "--", os.fsencode(program), b"a\xfdb")
    assert code == 7, err
    assert (tmp_path / "got").read_bytes() == b"a\xfdb"
    assert "pr\\xffog" in err and "a\\xfdb" in err
    command = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["command"]
    assert command == [str(tmp_path / "pr\\xffog"), "a\\xfdb"]
    code, said, err = call(capfd, "report", out)
    assert code == 0, err
    assert "o\\xfeut" in said
    assert "a\\xfdb" in (out / "report.html").read_text(encoding="utf-8")
    assert call(capfd, "compare", out, out)[0] in (0, 2)
    code, said, _ = call(capfd, "run", "--json", "--", program)
    assert code == 7 and "pr\\xffog" in json.loads(said)["manifest"]["command"][0]


# ---- pages of live processes ----


def memfd(name, data=b"", size=page.BYTES, seals=page.SEALS):
    file = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.truncate(file, size)
    os.pwrite(file, data, 0)
    if seals:
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    return file


def page_of(call=b"shmem_quiet", **changes):
    values = {"mark": page.MARK, "pid": os.getpid(), "pe": 0, "n": 1, "turn": 2, "taken": 1, "base": 1000, "end": 2000}
    values |= {"since": 10**9, "addr": 1501, "a": 1, "b": 2, "c": 3, "call": call} | changes
    return page.LAYOUT.pack(*values.values())


@pytest.fixture
def opened():
    """Descriptors that a test leaves open for `wattle top` to find."""
    files = []
    yield files
    for file in files:
        os.close(file)


def own():
    return [live for live in page.find() if live.pid == os.getpid()]


def test_a_page_is_found_among_the_files_of_ones_own_processes(opened):
    opened.append(memfd("wattle-live", page_of()))
    (live,) = own()
    assert (live.call, live.uid) == ("shmem_quiet", os.getuid())


@pytest.mark.parametrize("text", [text for text in HOSTILE if len(text) < 47])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_top_shows_a_page_of_any_text(home, capsys, opened, text, options):
    opened.append(memfd("wattle-live", page_of(text.encode(errors="replace").ljust(48, b"\0"))))
    code, out, err = call(capsys, "top", os.getpid(), *options)
    assert code == 0, err
    assert options or str(os.getpid()) in out


def fifo(folder):
    """A FIFO whose link reads as a page's, but for the folder."""
    path = folder / "memfd:wattle-live (deleted)"
    os.mkfifo(path)
    return os.open(path, os.O_RDWR | os.O_CLOEXEC)


@pytest.mark.parametrize(
    "make",
    [
        fifo,
        lambda _: memfd("wattle-live", page_of(), size=100),
        lambda _: memfd("wattle-live", page_of(), size=1 << 40),
        lambda _: memfd("wattle-live", page_of(), seals=0),
        lambda _: memfd("wattle-live", b"\xff" * page.BYTES),
        lambda _: memfd("wattle-live", page_of(turn=3)),
        lambda _: memfd("wattle-live", page_of(pe=-1)),
        lambda _: memfd("wattle-live", page_of(pe=5, n=2)),
        lambda _: memfd("wattle-live", page_of(pid=1)),
        lambda _: memfd("my wattle-live", page_of()),
    ],
)
def test_a_file_that_is_no_page_is_skipped_without_waiting(opened, tmp_path, make):
    opened.append(make(tmp_path))
    assert own() == []


def test_a_fifo_with_the_very_name_of_a_page_is_not_opened(opened, tmp_path, monkeypatch):
    """As a process in a root folder of its own could have it."""
    opened.append(fifo(tmp_path))
    monkeypatch.setattr(page, "NAME", str(tmp_path / "memfd:wattle-live (deleted)"))
    os.close(opened.pop())
    reader = os.open(tmp_path / "memfd:wattle-live (deleted)", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    opened.append(reader)  # there is no writer, so a plain open would wait for ever
    assert own() == []


@pytest.fixture
def strangers_page(opened, monkeypatch):
    """A page of another user's process."""
    opened.append(memfd("wattle-live", page_of()))
    monkeypatch.setattr(page, "_uid", lambda process: 4711 if process.name == str(os.getpid()) else 1)


def test_other_users_pages_are_not_looked_at(home, capsys, strangers_page):
    assert own() == []
    code, _, err = call(capsys, "top")
    assert code == 2 and "no PE of this user's runs" in err


def test_root_sees_them_with_all_and_nothing_is_looked_up_in_their_files(home, capsys, monkeypatch, strangers_page):
    from wattle.top import cli

    monkeypatch.setattr(cli.elf, "build_id", lambda path: pytest.fail(f"{path} was read"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    code, out, err = call(capsys, "top", os.getpid(), "--all")  # other jobs may run here
    assert code == 0, err
    assert "4711" in out and "shmem_quiet" in out


def test_all_is_roots_alone(home, capsys, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    code, _, err = call(capsys, "top", "--all")
    assert code == 2 and "only root" in err


def test_a_process_with_other_rights_than_its_users_is_nobodys(tmp_path):
    for name, uids, whose in (("1", "7\t7\t7\t7", 7), ("2", "7\t0\t0\t0", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "status").write_text(f"Name:\tx\nUid:\t{uids}\n")
        if whose is None:
            with pytest.raises(ValueError, match="too many"):
                page._uid(tmp_path / name)
        else:
            assert page._uid(tmp_path / name) == whose
