"""Networks of several switches: messages on a shared link take longer, farther nodes too, and errors are clear."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim_job import build, free_cluster, is_built, simulate
from wattle.base.errors import WattleError
from wattle.sim import cluster as clusters

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

HOP, LATENCY, BANDWIDTH = 0.5e-6, 2e-6, 1e9
FULL = 'kind = "fat-tree"\nbelow = [4, 4]\nabove = [1, 4]\nlinks = [1, 1]'
TAPERED = 'kind = "fat-tree"\nbelow = [4, 4]\nabove = [1, 1]\nlinks = [1, 1]'
RING = 'kind = "torus"\ndimensions = [8]'
DRAGONFLY = (
    'kind = "dragonfly"\ngroups = 2\nchassis = 2\nrouters = 2\nnodes = 2\n'
    "group_links = 1\nchassis_links = 1\nrouter_links = 1"
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("topologies"), "near", "far_away", "mpi_kinds")


def described(folder: Path, shape: str, hop: float | None = HOP, **costs: float) -> str:
    folder.mkdir(exist_ok=True)
    path = free_cluster(folder, cards=True, latency=LATENCY, bandwidth=BANDWIDTH, **costs)
    row = f'[hop]\nvalue = {hop}\nplus_minus = 0\nunit = "s"\ntag = "assumed"\nhow = "for a test"\n'
    table = f'[topology]\n{shape}\ntag = "assumed"\nhow = "for a test"\n'
    path.write_text(path.read_text() + (row if hop is not None else "") + table)
    return str(path)


def run(where: Path, program: Path, *words: str, n: int, shape: str, **costs: float) -> list[float]:
    options = ("--machine", described(where, shape, **costs), "--set", "WATTLE_WAIT=spin")
    done = simulate(where / "run", program, *words, n=n, options=options)
    assert done.returncode == 0, done.stderr
    return [1e-6 * float(word) for word in done.stdout.split()[1:]]


@pytest.mark.parametrize(("program", "words"), [("near", ("cross", str(1 << 20))), ("far_away", ("512", "400"))])
def test_a_tapered_fat_tree_is_slower_where_all_cross_it(
    programs: Path, tmp_path: Path, program: str, words: tuple[str, str]
) -> None:
    """PEs 0 to 3 of one switch send to PEs 4 to 7 of another at once: one long put each, or many short ones."""
    full, tapered = (
        run(tmp_path / name, programs / program, *words, n=8, shape=shape)[0]
        for name, shape in (("full", FULL), ("tapered", TAPERED))
    )
    assert tapered == pytest.approx(4 * full, rel=0.1)


def test_neighbours_in_a_torus_are_nearer_than_others(programs: Path, tmp_path: Path) -> None:
    """A put takes its way there, and its acknowledgement the shortest way back."""
    for size in (16384, 65536):  # a shorter put to a PE that may sleep is a message
        times = run(tmp_path / str(size), programs / "far_away", str(size), n=8, shape=RING)
        far = [min(pe, 8 - pe) for pe in range(8)]
        for pe in range(1, 8):
            assert times[pe] - times[1] == pytest.approx((far[pe] - 1) * HOP, abs=0.05e-6)


def test_ranks_of_a_dragonfly_are_one_behind_the_other(programs: Path, tmp_path: Path) -> None:
    times = run(tmp_path, programs / "far_away", "16384", n=16, shape=DRAGONFLY)
    router, chassis, group = times[1], max(times[2:4]), max(times[4:8])
    assert router < chassis < group < max(times[8:])
    assert chassis - router == pytest.approx(HOP, abs=0.05e-6)


def test_a_link_between_switches_has_a_bandwidth_of_its_own(programs: Path, tmp_path: Path) -> None:
    fast = run(tmp_path / "fast", programs / "near", "cross", str(1 << 20), n=8, shape=TAPERED, link=4 * BANDWIDTH)[0]
    assert fast == pytest.approx((1 << 20) / BANDWIDTH, rel=0.05)


@pytest.mark.parametrize("shape", [FULL, RING, DRAGONFLY])
def test_mpi_programs_run_on_each_topology(programs: Path, tmp_path: Path, shape: str) -> None:
    options = ("--machine", described(tmp_path, shape), "--no-profile")
    done = simulate(tmp_path / "run", programs / "mpi_kinds", n=4, options=options)
    assert done.returncode == 0, done.stderr


def test_more_nodes_than_places_are_refused(programs: Path, tmp_path: Path) -> None:
    options = ("--machine", described(tmp_path, RING))
    done = simulate(tmp_path / "run", programs / "far_away", n=9, options=options)
    assert done.returncode == 2 and "-n 9: the torus of cluster has 8 places" in done.stderr, done


@pytest.mark.parametrize(
    ("shape", "hop", "words"),
    [
        ('kind = "ring"\ndimensions = [8]', HOP, "topology.kind"),
        (RING + "\nbelow = [2]", HOP, "'below': a torus has"),
        ('kind = "torus"\ndimensions = [0]', HOP, "expected numbers from 1"),
        ('kind = "torus"\ndimensions = [4000, 4000]', HOP, "expected at most 65,536"),
        ('kind = "fat-tree"\nbelow = [4, 4]\nabove = [1]\nlinks = [1, 1]', HOP, "as many numbers in each"),
        (RING, None, "hop: expected with a topology"),
        (FULL, 1.5e-6, "hop: 1.5e-06 s: expected at most 1e-06 s"),
    ],
)
def test_errors_name_the_key_and_what_is_expected(tmp_path: Path, shape: str, hop: float | None, words: str) -> None:
    with pytest.raises(WattleError) as error:
        clusters.read(described(tmp_path, shape, hop))
    assert words in str(error.value)


@pytest.mark.parametrize("name", ["yellowstone", "piz-daint", "hopper"])
def test_published_systems_run(programs: Path, tmp_path: Path, name: str) -> None:
    done = simulate(tmp_path / "run", programs / "far_away", "8", n=64, options=("--machine", name))
    assert done.returncode == 0, done.stderr
    times = [float(word) for word in done.stdout.split()[2:]]
    assert max(times) > times[0]
