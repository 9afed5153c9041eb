"""`wattle doctor` on several nodes: the networks between them, launchers, and nodes that can be made here."""

from __future__ import annotations

import ctypes.util
import json
import re
from pathlib import Path

import fakes
import pytest
from fakes import Wattle
from wattle.base.errors import WattleError
from wattle.doctor import launchers, libfabric, network, probe, ucx
from wattle.doctor.finding import Finding, Roots, State
from wattle.doctor.libfabric import Libfabric
from wattle.doctor.ucx import Ucx
from wattle.machine import paths

CONTEXT = """1.13.1
#
# UCP context
#
#     component 0  :  self
#     component 1  :  tcp
#     component 4  :  ib
#
#            md 0  :  component 0  self
#
#      resource 0  :  md 0  dev 0  flags -- self/memory0
#      resource 1  :  md 1  dev 1  flags -- tcp/lo
#      resource 2  :  md 1  dev 2  flags -- tcp/eth0
#      resource 3  :  md 2  dev 3  flags -- sysv/memory
#      resource 4  :  md 4  dev 4  flags -- rc_verbs/mlx5_0:1
#
"""


@pytest.fixture
def roots(tmp_path):
    (tmp_path / "sys" / "class" / "net").mkdir(parents=True)
    return Roots(tmp_path / "sys", tmp_path / "proc")


def add_interface(roots: Roots, name: str, state: str = "up") -> None:
    folder = roots.sys / "class" / "net" / name
    folder.mkdir()
    (folder / "operstate").write_text(state)


def examine(roots: Roots) -> dict[str, Finding]:
    return {finding.name: finding for finding in network.examine(roots).findings}


@pytest.fixture
def with_module(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose runtime has its UCX module, and a UCX that answers what `answer` says."""
    (home / "lib").mkdir()
    for name in ("libwattle-shmem.so", "libwattle-net-ucx.so"):
        (home / "lib" / name).touch()
    monkeypatch.setattr(network.elf, "libraries", lambda _: {"libucp.so.0": "/lib/libucp.so.0"})
    monkeypatch.setattr(ucx, "ask", lambda _: ucx.parse(CONTEXT))
    return home


def test_transports_are_those_that_lead_out_of_the_node():
    found = ucx.parse(CONTEXT)
    assert (found.version, found.components) == ("1.13.1", ["self", "tcp", "ib"])
    assert found.transports == {"tcp": ["eth0", "lo"], "rc_verbs": ["mlx5_0:1"]}
    assert found.words == "tcp (eth0, lo), rc_verbs (mlx5_0:1)"
    assert not found.only_loopback


def test_what_ucx_found_is_shown(roots, with_module):
    (roots.sys / "class" / "infiniband" / "mlx5_0").mkdir(parents=True)
    add_interface(roots, "eth0")
    found = examine(roots)
    assert (found["between nodes"].state, found["transports"].state) == (State.YES, State.YES)
    assert "UCX 1.13.1" in found["between nodes"].says
    assert found["transports"].says == "tcp (eth0, lo), rc_verbs (mlx5_0:1)"
    assert (found["InfiniBand"].state, found["InfiniBand"].says) == (State.YES, "mlx5_0; UCX uses mlx5_0")
    assert found["interfaces"].says == "eth0 (up)"


def test_a_loopback_alone_reaches_no_other_machine(roots, with_module, monkeypatch):
    monkeypatch.setattr(ucx, "ask", lambda _: Ucx("1.13.1", {"tcp": ["lo"]}, ["tcp"]))
    found = examine(roots)
    assert found["transports"].state is State.PARTLY
    assert "other nodes cannot be reached" in found["transports"].why
    assert found["interfaces"].state is State.NO


def test_a_card_that_ucx_does_not_use_is_reported(roots, with_module, monkeypatch):
    (roots.sys / "class" / "infiniband" / "mlx5_0").mkdir(parents=True)
    monkeypatch.setattr(ucx, "ask", lambda _: Ucx("1.13.1", {"tcp": ["eth0"]}, ["tcp", "ib"]))
    assert "is its port up?" in examine(roots)["InfiniBand"].why
    monkeypatch.setattr(ucx, "ask", lambda _: Ucx("1.13.1", {"tcp": ["eth0"]}, ["tcp"]))
    assert "UCX has no component for it" in examine(roots)["InfiniBand"].why


def test_a_roce_card_of_another_maker_gets_a_remedy(roots, with_module, monkeypatch):
    for name, layer in (("mlx5_0", "Ethernet"), ("bnxt_re0", "Ethernet"), ("ibp1", "InfiniBand")):
        port = roots.sys / "class" / "infiniband" / name / "ports" / "1"
        port.mkdir(parents=True)
        (port / "link_layer").write_text(f"{layer}\n")
    monkeypatch.delenv("UCX_UD_ETH_DGID_CHECK", raising=False)
    found = examine(roots)["RoCE"]
    assert (found.state, found.says, found.grant) == (State.PARTLY, "bnxt_re0", ("export UCX_UD_ETH_DGID_CHECK=n",))
    monkeypatch.setenv("UCX_UD_ETH_DGID_CHECK", "n")
    assert "RoCE" not in examine(roots)


def with_libfabric(home: Path, monkeypatch: pytest.MonkeyPatch, *providers: str) -> None:
    """Adds the module of libfabric, and a libfabric with these providers."""
    (home / "lib" / "libwattle-net-ofi.so").touch()
    libraries = {"libucp.so.0": "/lib/libucp.so.0", "libfabric.so.1": "/lib/libfabric.so.1"}
    monkeypatch.setattr(network.elf, "libraries", lambda _: libraries)
    monkeypatch.setattr(libfabric, "ask", lambda _: Libfabric("1.17", list(providers)))


@pytest.mark.parametrize(
    ("device", "provider", "taken"),
    [
        ("cxi/cxi0", "cxi", "libfabric"),
        ("infiniband/hfi1_0", "psm3", "libfabric"),
        ("infiniband/efa_0", "efa", "libfabric"),
        ("infiniband/mlx5_0", "verbs;ofi_rxm", "UCX"),
        (None, "sockets", "UCX"),
    ],
)
def test_the_network_is_chosen_by_the_devices(roots, with_module, monkeypatch, device, provider, taken):
    with_libfabric(with_module, monkeypatch, "tcp;ofi_rxm", provider)
    if device:
        (roots.sys / "class" / device).mkdir(parents=True)
    found = examine(roots)
    assert found["network"].says.startswith(f"{taken} (WATTLE_NETWORK=auto): ")
    assert found["libfabric"].says == f"1.17: tcp;ofi_rxm, {provider}"


def test_a_device_without_its_provider_is_left_to_ucx(roots, with_module, monkeypatch):
    with_libfabric(with_module, monkeypatch, "tcp;ofi_rxm")
    (roots.sys / "class/cxi/cxi0").mkdir(parents=True)
    says = "UCX (WATTLE_NETWORK=auto): this node has Slingshot, but libfabric has no provider cxi here"
    assert examine(roots)["network"].says == says


def test_a_network_without_its_module_is_not_chosen(roots, with_module):
    (roots.sys / "class/cxi/cxi0").mkdir(parents=True)
    says = "UCX (WATTLE_NETWORK=auto): this node has Slingshot, but the runtime has no module for libfabric"
    found = examine(roots)
    assert found["network"].says == says and "libfabric" not in found


def test_the_real_libfabric_answers(monkeypatch):
    monkeypatch.setattr(probe, "LIMIT_S", 300)
    library = ctypes.util.find_library("fabric")
    if library is None:
        pytest.skip("no libfabric here")
    found = libfabric.ask(library)
    assert found.why == "" and re.fullmatch(r"\d+\.\d+", found.version), found
    assert "tcp;ofi_rxm" in found.providers and "shm" not in found.providers


def test_a_libfabric_that_cannot_be_loaded_is_a_reason(tmp_path):
    broken = tmp_path / "libfabric.so.1"
    broken.write_text("no library")
    found = libfabric.ask(str(broken))
    assert (found.version, found.providers) == ("", []) and "libfabric.so.1" in found.why


def test_no_card_is_no_infiniband(roots, with_module):
    found = examine(roots)["InfiniBand"]
    assert (found.state, found.says) == (State.NO, "none")


def test_a_runtime_without_the_module_has_one_node(roots, home):
    found = examine(roots)["between nodes"]
    assert found.state is State.NO
    assert "jobs run on one node" in found.why
    assert "transports" not in examine(roots)


def test_a_library_that_is_gone_is_named_with_its_package(roots, with_module, monkeypatch):
    monkeypatch.setattr(network.elf, "libraries", lambda _: {"libucp.so.0": None})
    found = examine(roots)["between nodes"]
    assert found.state is State.NO and "libucp.so.0 is not found; the runtime's module needs it" in found.why
    assert found.grant == ("sudo apt-get install libucx0",)


def test_what_could_not_be_found_out_is_reported(roots, with_module, monkeypatch):
    monkeypatch.setattr(ucx, "ask", lambda _: Ucx("1.13.1", why="libucp.so.0: Input/output error"))
    found = examine(roots)["transports"]
    assert (found.says, found.why) == ("unknown", "libucp.so.0: Input/output error")


def test_a_library_that_is_no_ucx_is_no_crash(tmp_path):
    (tmp_path / "libucp.so.0").write_text("no library")
    assert "libucp.so.0" in ucx.ask(str(tmp_path / "libucp.so.0")).why


def test_the_real_library_answers(monkeypatch):
    monkeypatch.setattr(probe, "LIMIT_S", 300)
    try:
        modules = network._modules(paths.find_home())
    except WattleError as error:
        pytest.skip(f"the runtime is not built: {error}")
    found = network._ask_ucx(modules)
    if found is None:
        pytest.skip("the runtime has no module for UCX")
    assert found.why == ""
    assert found.version[0].isdigit()
    assert found.transports


@pytest.mark.parametrize(
    ("reason", "grant"),
    [
        ("network namespaces need root", ()),
        ("ip not found (Debian: apt install iproute2 util-linux)", ("sudo apt-get install iproute2 util-linux",)),
    ],
)
def test_why_no_nodes_can_be_made_is_reported(roots, home, monkeypatch, reason, grant):
    monkeypatch.setattr(network.nodes, "unavailable", lambda: reason)
    found = examine(roots)["made nodes"]
    assert (found.state, found.why, found.grant) == (State.NO, reason, grant)


def test_nodes_that_can_be_made_are_reported_with_the_command(roots, home, monkeypatch):
    monkeypatch.setattr(network.nodes, "unavailable", lambda: None)
    monkeypatch.setattr(network.os, "sched_getaffinity", lambda _: {0, 1})
    assert "--on two-nodes" in examine(roots)["made nodes"].says
    monkeypatch.setattr(network.os, "sched_getaffinity", lambda _: {0})
    assert examine(roots)["made nodes"].state is State.PARTLY


OPEN_MPI = "mpirun (Open MPI) 4.1.4\n\nReport bugs to nobody"
DEBIANS = "mpirun.openmpi (OpenRTE) 4.1.4\n"
HYDRA = "HYDRA build details:\n    Version:                                 4.0.2\n"
SLURM = "slurm-wlm 22.05.8\n"
PRRTE = "prterun (PRRTE) 3.0.2\n"


@pytest.mark.parametrize(
    ("commands", "rows"),
    [
        ({"mpirun": OPEN_MPI}, {"Open MPI": "4.1.4 (mpirun)"}),
        (
            {"mpirun.openmpi": DEBIANS, "mpirun": HYDRA},
            {"Open MPI": "4.1.4 (mpirun.openmpi)", "MPICH": "4.0.2 (mpirun)"},
        ),
        ({"mpirun": HYDRA, "mpiexec": HYDRA}, {"MPICH": "4.0.2 (mpiexec)"}),
        ({"srun": SLURM, "prterun": PRRTE}, {"PRRTE": "3.0.2 (prterun)", "Slurm": "22.05.8 (srun)"}),
    ],
)
def test_launchers_are_recognized_by_their_output_and_not_by_name(tmp_path, monkeypatch, commands, rows):
    for name, says in commands.items():
        fakes.script(tmp_path / "bin" / name, f"#!/bin/sh\n/bin/cat <<'end'\n{says}end\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = {finding.name: finding for finding in launchers.examine()}
    others = [launcher.name for launcher in launchers.LAUNCHERS if launcher.name not in rows]
    assert {name: finding.says for name, finding in found.items()} == rows | {
        "other launchers": f"not found: {', '.join(others)}"
    }


def test_a_launcher_that_does_not_work_is_reported_and_no_launcher_comes_with_a_way_out(tmp_path, monkeypatch):
    fakes.script(tmp_path / "bin" / "srun", "#!/bin/sh\necho 'srun: error: no configuration' >&2; exit 1\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    slurm, none = launchers.examine()
    assert (slurm.name, slurm.state) == ("Slurm", State.PARTLY)
    assert "srun: error: no configuration" in slurm.why
    assert (none.state, none.grant) == (State.NO, ("sudo apt-get install openmpi-bin",))


def test_the_rows_fit_80_columns_and_json_has_them(wattle: Wattle):
    shown = wattle("doctor").stdout
    assert max(map(len, shown.splitlines())) <= 80
    document = json.loads(wattle("doctor", "--json").stdout)
    rows = {f["name"]: f for s in document["sections"] if s["title"] == "Network" for f in s["findings"]}
    assert {"between nodes", "InfiniBand", "interfaces", "made nodes"} <= set(rows)
    for name in rows:
        assert name in shown
