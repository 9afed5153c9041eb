"""A study on hosts: its place comes from options, an allocation or a default host file, and each job is looked for."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fakes
import pytest
import studies
from fakes import Wattle
from mpi_jobs import MPICH, OPEN_MPI
from tree import PACKAGE
from wattle.base.errors import DamagedFile, WattleError
from wattle.machine import paths
from wattle.machine.nodes import Nodes, unavailable
from wattle.study import cli, hosts, launch, registry, where
from wattle.study.place import Place, check_place, of_options
from wattle.study.versions.course import parse_pes

needs_nodes = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
SMALL = ("--payload", "64", "--repeat", "1", "--min-time", "0")  # of `patterns`: seconds


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No allocation and no default host file."""
    for name in ("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "WATTLE_LAUNCHER", *hosts.DEFAULTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(hosts, "_asked", lambda: "")


# ---- the place ----


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("a,b,a", "a is named twice; a study needs different hosts"),
        ("a:2,b:2", "a study has its own numbers of PEs; write the names alone"),
        ("a,", "a host's name is empty"),
        ("a b", "'a b' is no host's name"),
    ],
)
def test_wrong_lists_of_hosts_are_named(listed: str, words: str):
    with pytest.raises(WattleError) as error:
        check_place(f"hosts:{listed}")
    assert str(error.value).startswith(f"--hosts {listed}: ")
    assert words in str(error.value)


def test_every_study_has_the_option_and_a_wrong_list_is_one_line(wattle: Wattle):
    cli.choose(None)
    callbacks = {command.name: command.callback for command in cli.study_app.registered_commands}
    assert sorted(callbacks) == sorted(registry.commands())
    for callback in callbacks.values():
        names = list(inspect.signature(callback).parameters)
        assert names.index("hosts") == names.index("on") + 1
    done = wattle("study", "slack", "--hosts", "a,a")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "wattle: --hosts a,a: a is named twice; a study needs different hosts\n"


def test_hosts_are_given_in_one_way(wattle: Wattle):
    assert (
        "--on local and --hosts a: give one of the two"
        in wattle("study", "slack", "--on", "local", "--hosts", "a").stderr
    )
    assert of_options(None, "a,b", "local") == ("hosts:a,b", "")
    assert of_options("two-nodes", None, "local") == ("two-nodes", "")
    assert of_options(None, None, "sim") == ("sim", "")


def test_a_host_that_cannot_be_reached_is_named_with_the_reason(home, wattle: Wattle):
    fakes.script(
        home / "bin" / "oshrun",
        '#!/bin/sh\ncase "$*" in *bad:*) printf "\\n---\\nssh: connect to host bad port 22: No route\\nmore\\n" >&2; '
        "exit 1 ;; esac\n",
    )
    done = wattle("study", "patterns", "--hosts", "good,bad")
    assert done.returncode == 2
    assert done.stderr == (
        "wattle: --hosts good,bad: bad cannot be reached: ssh: connect to host bad port 22: No route\n"
    )


def test_a_slurm_allocation_of_several_nodes_is_the_place_by_default(nowhere, monkeypatch):
    assert of_options(None, None, "local") == ("local", "")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[08-09],m1")
    assert of_options(None, None, "local") == ("local", "")  # no allocation
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    on, remark = of_options(None, None, "local")
    assert on == "hosts:n08,n09,m1"
    assert remark.startswith("this Slurm allocation names n08, n09 and m1, so the PEs are distributed to them")
    assert of_options("local", None, "local") == ("local", "")
    assert hosts.first_allocated() == ("n08",)  # the one node of --on local
    monkeypatch.setenv("WATTLE_LAUNCHER", "openmpi")
    assert of_options(None, None, "local")[0] == "local"
    monkeypatch.setenv("WATTLE_LAUNCHER", "auto")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n08")
    assert of_options(None, None, "local") == ("local", "")


def test_a_default_host_file_is_the_place_by_default(nowhere, monkeypatch, tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# ours\na slots=16\nb slots=16\n")
    monkeypatch.setenv("OMPI_MCA_orte_default_hostfile", str(file))
    on, remark = of_options(None, None, "local")
    assert (on, remark.partition(" names ")[0]) == ("hosts:a,b", f"the default host file {file}")
    monkeypatch.setenv("OMPI_MCA_orte_default_hostfile", "none")
    assert of_options(None, None, "local") == ("local", "")
    monkeypatch.delenv("OMPI_MCA_orte_default_hostfile")
    monkeypatch.setattr(hosts, "_asked", lambda: str(file))
    assert of_options(None, None, "local")[0] == "hosts:a,b"
    file.write_text("# none\n")
    assert of_options(None, None, "local") == ("local", "")
    file.write_text("localhost slots=2\n")
    assert of_options(None, None, "local") == ("local", "")


PRTE_INFO = """\
                MCA prte: "prte_default_hostfile" (current value:
                          "FILE",
                          data source: default, type: string)
                          Name of the default hostfile (relative or absolute
                          path, "none" to ignore environmental or default MCA
                          param setting)
"""
OMPI_INFO = "mca:orte:base:param:orte_default_hostfile:value:FILE\n"


@pytest.mark.parametrize(
    ("tool", "options", "said"),
    [
        ("ompi_info", "--parsable --param orte all --level 9", OMPI_INFO),
        ("prte_info", "--param prte:all", PRTE_INFO),  # of PRRTE 3.0, which refuses the options of ompi_info
    ],
)
def test_each_open_mpi_is_asked_for_its_default_host_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tool: str, options: str, said: str
):
    file = tmp_path / "default-hostfile"
    file.write_text("n1\nn2\n")
    answer = f"/bin/cat <<'END'\n{said.replace('FILE', str(file))}END\n"
    fakes.script(tmp_path / "bin" / tool, f'#!/bin/sh\n[ "$*" = "{options}" ] || exit 1\n{answer}')
    for name in ("SLURM_JOB_ID", *hosts.DEFAULTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert hosts.by_default() == (("n1", "n2"), f"the default host file {file}")


def test_pes_are_distributed_evenly_in_blocks_and_two_are_on_two_hosts():
    three = Place("hosts", hosts=("a", "b", "c"))
    assert [three.share(n) for n in (1, 2, 3, 7)] == [[1], [1, 1], [1, 1, 1], [3, 2, 2]]
    assert hosts.command("oshrun", three.hosts, three.share(2)) == ["oshrun", "-n", "2", "--host", "a:1,b:1", "--"]
    assert (three.across, Place("hosts", hosts=("a",)).across, Place().share(5)) == (True, False, [5])
    assert parse_pes("3", three) == (3,)
    with pytest.raises(WattleError, match="two nodes have the same number of PEs each"):
        parse_pes("3", Place("two-nodes"))


def test_a_job_of_hosts_ignores_the_default_host_file_and_passes_its_pes_the_folder(home, tmp_path, monkeypatch):
    monkeypatch.setenv("WATTLE_HOME", str(home))
    bench = fakes.script(tmp_path / "bench", '#!/bin/sh\necho "{\\"dir\\": \\"$WATTLE_PROFILE_DIR\\"}"\n')
    fakes.script(
        home / "bin" / "oshrun",
        '#!/bin/sh\n[ "$OMPI_MCA_orte_default_hostfile$PRTE_MCA_prte_default_hostfile" = nonenone ] || exit 3\n'
        "while [ $1 != -- ]; do shift; done; shift; exec $*\n",
    )
    from wattle.study import program

    with Place().open() as start:
        line, *_ = program.run(paths.find_home(), bench, [], 2, start)
    assert Path(line["dir"]).name == "profile"
    assert not Path(line["dir"]).exists()


# ---- where the PEs were ----


def profiles(folder: Path, *nodes: int, **changes: object) -> list[where.Process]:
    """The processes of a job whose PE i was on node nodes[i]."""
    made = [
        fakes.pe_profile(i, len(nodes), host=f"n{k}", node_number=k, boot_id=f"id{k}", **changes)
        for i, k in enumerate(nodes)
    ]
    return where.look(fakes.write_profiles(folder, made))


def test_pes_on_the_planned_nodes_are_recorded_with_their_networks(tmp_path):
    network = fakes.NETWORK | {"paths": "tcp/eth0,rc_mlx5/mlx5_0:1"}
    found = profiles(tmp_path, 0, 0, 1, network=network)
    where.check(found, [2, 1], "--hosts n0,n1", True)
    there = Place("hosts", hosts=("n0", "n1"))
    there.seen.add(found)
    facts = there.as_dict()
    assert [(node["host"], node["boot_id"], node["most_pes"]) for node in facts["seen"]] == [
        ("n0", "id0", 2),
        ("n1", "id1", 1),
    ]
    assert facts["seen"][0]["paths"] == ["tcp/eth0", "rc_mlx5/mlx5_0:1"]
    assert (facts["networks"], facts["one_machine"], facts["nodes"]) == (["ucx"], False, 2)
    assert there.words == "the hosts n0 and n1, PEs distributed evenly, joined by tcp/eth0 and rc_mlx5/mlx5_0:1"


def test_ranks_of_mpi_are_recorded_with_library_and_transport(tmp_path):
    mpi = {"library": "Open MPI v4.1.4", "transport": "ob1 (self, tcp, vader)", "why": "", "paths": "tcp/eth0"}
    there = Place("hosts", hosts=("n0", "n1"))
    there.seen.add(profiles(tmp_path / "known", 0, 1, mpi=mpi, network=None))
    unknown = mpi | {"transport": None, "why": "a static build", "paths": ""}
    there.seen.add(profiles(tmp_path / "unknown", 0, 1, mpi=unknown, network=None))
    facts = there.as_dict()
    assert facts["mpi"] == ["Open MPI v4.1.4: ob1 (self, tcp, vader)", "Open MPI v4.1.4: unknown: a static build"]
    assert facts["seen"][0]["paths"] == ["tcp/eth0"]
    assert "joined by tcp/eth0" in there.words


def test_nodes_of_one_kernel_are_one_machine(tmp_path):
    made = [fakes.pe_profile(i, 2, host="n", node_number=i, boot_id="id") for i in (0, 1)]
    there = Place("hosts", hosts=("a", "b"))
    there.seen.add(where.look(fakes.write_profiles(tmp_path, made)))
    assert len(there.seen.nodes) == 2
    assert there.one_machine
    assert "which are one machine, one PE on each" in there.words


@pytest.mark.parametrize("mpi_first", [True, False])
def test_processes_of_mpi_are_on_the_nodes_of_the_pes(tmp_path, mpi_first):
    pes = profiles(tmp_path, 0, 1)
    ranks = [where.Process(i, (-1, f"n{i}", f"id{i}")) for i in (0, 0, 1)]
    there = Place("hosts", hosts=("n0", "n1"))
    for found in (ranks, pes) if mpi_first else (pes, ranks):
        there.seen.add(found)
    assert [(node.host, node.most) for node in there.seen.nodes.values()] == [("n0", 2), ("n1", 1)]


@pytest.mark.parametrize(
    ("nodes", "planned", "option", "shared", "words"),
    [
        ((0, 1), [2], "--on local", False, "on 2 nodes (n0 1 and n1 1), but the study was planned for this node; give"),
        ((0, 0), [1, 1], "--hosts a,b", True, "2 PEs on 1 node (n0 2), but 2 nodes were planned; two of the names may"),
        ((0, 1, 1, 1), [2, 2], "--hosts a,b", True, "(n0 1 and n1 3), but 2 nodes were planned; it ignored the list"),
        ((0,), [1, 1], "--hosts a,b", True, "PE 1 left no file where the study looks"),
        ((0,), [4], "--on local", False, "3 of 4 PEs left no file where the study looks"),
        ((), [1, 1], "--hosts a,b", True, "2 of 2 PEs left no file where the study looks"),
    ],
)
def test_pes_elsewhere_end_the_study_with_the_hosts_that_were_found(tmp_path, nodes, planned, option, shared, words):
    with pytest.raises(WattleError) as error:
        where.check(profiles(tmp_path, *nodes), planned, option, shared)
    assert str(error.value).startswith(f"{option}: ")
    assert words in str(error.value)


def test_a_job_on_this_node_without_profiles_shows_nothing(tmp_path):
    where.check(where.look(tmp_path), [2], "--on local", False)


def test_processes_of_mpi_say_where_they_are(tmp_path):
    for rank in (0, 1):
        env = {"PATH": os.environ["PATH"], "WATTLE_PROFILE_DIR": str(tmp_path), "OMPI_COMM_WORLD_RANK": str(rank)}
        done = subprocess.run([*where.MPI_SAYS, "echo", "a b"], env=env, capture_output=True, text=True, check=True)
        assert done.stdout == "a b\n"
    found = where.look(tmp_path)
    assert [p.number for p in found] == [0, 1]
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert {p.node for p in found} == {(-1, os.uname().nodename, boot_id)}
    assert {p.mpi for p in found} == {where.NO_LIBRARY}


def test_a_study_that_finds_its_pes_elsewhere_fails(home, wattle: Wattle, environment, tmp_path):
    fakes.script(home / "bin" / "wattle-bench-patterns", studies.BENCH)
    made = [fakes.pe_profile(i, 2, host=f"n{i}", node_number=i) for i in (0, 1)]
    fakes.write_profiles(tmp_path / "ready", made)
    done = wattle(
        "study",
        "patterns",
        "--quick",
        "--on",
        "local",
        "-o",
        tmp_path / "out",
        env={"FAKE_PROFILES": str(tmp_path / "ready")},
    )
    assert done.returncode == 2
    assert "--on local: the launcher started 2 PEs on 2 nodes (n0 1 and n1 1)" in done.stderr.splitlines()[-1]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 2


# ---- read back ----


def test_hosts_and_nodes_are_read_back_from_a_manifest(tmp_path):
    from wattle.record import manifest
    from wattle.study.patterns import study as patterns

    there = Place("hosts", hosts=("n0", "n1"))
    there.seen.add(profiles(tmp_path / "p", 0, 1, network=fakes.NETWORK | {"paths": "tcp/eth0"}))
    directory = studies.make_study(tmp_path / "s", place=there)
    found = patterns.STUDY.load(directory, manifest.read(directory)).place
    assert found == there
    assert found.as_dict() == there.as_dict()
    document = json.loads((directory / "manifest.json").read_text())
    document["study"]["place"]["seen"][0]["most_pes"] = "two"
    (directory / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(DamagedFile, match=r"study.place.seen\[0\].most_pes: expected a whole number"):
        patterns.STUDY.load(directory, manifest.read(directory))


# ---- for real ----


@pytest.fixture(scope="module")
def two() -> Iterator[Nodes]:
    with Nodes(2) as nodes:
        yield nodes


def run(nodes: Nodes, out: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`wattle study patterns` on the first node."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "FAKE_", "COLUMNS"))}
    env = {**inherited, "PYTHONPATH": str(PACKAGE), **nodes.environment, **environment}
    command = [sys.executable, "-m", "wattle", "study", "patterns", *SMALL, "-o", str(out), *words]
    return subprocess.run(nodes.inside(0, *command), env=env, capture_output=True, text=True, timeout=300, check=False)


def place_in(out: Path) -> dict[str, object]:
    for name in ("manifest.json", "results.json"):
        document = json.loads((out / name).read_text())
        found = document.get("study", {}).get("place") if name == "manifest.json" else document["place"]
    return found


@needs_nodes
def test_a_default_host_file_of_two_nodes_gives_a_study_on_two_nodes_that_says_so(two, tmp_path):
    (tmp_path / "hosts").write_text("".join(f"{name} slots=4\n" for name in two.names))
    default = dict.fromkeys(hosts.DEFAULTS, str(tmp_path / "hosts"))
    done = run(two, tmp_path / "out", **default)
    assert done.returncode == 0, done.stderr
    assert "--on local takes one node only" in done.stderr
    found = place_in(tmp_path / "out")
    assert (found["name"], found["hosts"], found["one_machine"]) == ("hosts", two.names, True)
    assert [(node["host"], node["most_pes"], node["paths"]) for node in found["seen"]] == [
        (name, 1, ["tcp/e0"]) for name in two.names
    ]
    assert "joined by tcp/e0" in " ".join(done.stdout.split())
    done = run(two, tmp_path / "local", "--on", "local", **default)
    assert done.returncode == 0, done.stderr
    found = place_in(tmp_path / "local")
    assert (found["name"], [node["most_pes"] for node in found["seen"]]) == ("local", [2])


@needs_nodes
def test_an_mpi_that_reaches_no_other_host_is_left_out_with_the_reason(two, monkeypatch, tmp_path):
    (tmp_path / "ssh").write_text("#!/bin/sh\necho ssh: no way to any host >&2; exit 255\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(hosts, "REACH_S", 5.0)
    for mpi in (OPEN_MPI, MPICH):
        mpi.require()
        launch._unreached.cache_clear()
        how = launch.Launch(Path("program"), mpi.launcher, mpi.name)
        with pytest.raises(WattleError, match=f"{mpi.name} cannot start a process on each host: "):
            launch.check_hosts(how, Place("hosts", hosts=tuple(two.names)))
        launch.check_hosts(how, Place())


@needs_nodes
def test_hosts_by_name_and_one_that_is_not_there(two, tmp_path):
    done = run(two, tmp_path / "out", "--hosts", two.names[1])
    assert done.returncode == 0, done.stderr
    found = place_in(tmp_path / "out")
    assert [node["host"] for node in found["seen"]] == [two.names[1]]
    assert not Place("hosts", hosts=tuple(found["hosts"])).across
    done = run(two, tmp_path / "none", "--hosts", f"{two.names[0]},nohost")
    assert done.returncode == 2
    assert done.stderr.startswith(f"wattle: --hosts {two.names[0]},nohost: nohost cannot be reached: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_two_names_of_one_host_are_found_out(tmp_path):
    try:
        paths.tool("oshrun")
    except WattleError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "wattle", "study", "patterns", *SMALL, "--hosts", "localhost,127.0.0.1"]
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "WATTLE_LAUNCHER": "openmpi"}
    done = subprocess.run([*command, "-o", str(tmp_path / "out")], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert "--hosts localhost,127.0.0.1: the launcher started 2 PEs on 1 node" in last
    assert "two of the names may be one host" in last
