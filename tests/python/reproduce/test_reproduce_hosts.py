"""`wattle reproduce --hosts` on two nodes that are reached by a real sshd each: interruption, resumption, one page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import fakes
import pytest
import ssh_nodes
from ssh_nodes import Cluster
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.reproduce import archive, page, state

LIMIT_S = 900
ONLY = ("tsp", "fragments")  # in this order, by their usual times


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if reason := ssh_nodes.why_not():
        pytest.skip(reason)
    try:
        paths.find_home().tool("oshrun")
    except WattleError as error:
        pytest.skip(str(error))
    with ssh_nodes.cluster(tmp_path_factory.mktemp("ssh")) as made:
        yield made


def manifest_of(out: Path, cluster: Cluster, study: str) -> Path:
    return out / "studies" / f"{study}-hosts-{cluster.names[0]}" / "manifest.json"


def until_it_runs(path: Path, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + LIMIT_S
    while not path.exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until, f"{path} is not there"
        time.sleep(0.1)


def test_a_run_on_hosts_by_ssh_has_the_figures_of_each(cluster: Cluster, tmp_path):
    program = paths.find_home().root / "bin/examples/hello"
    words = cluster.wattle("run", "--hosts", ",".join(cluster.names), "-o", tmp_path / "run", "--", program)
    done = subprocess.run(words, env=cluster.environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    hosts = [json.loads(path.read_text())["host"] for path in sorted((tmp_path / "run/profile").glob("pe-*.json"))]
    assert hosts == cluster.names, done


@pytest.mark.soak  # a minute of two cores; test_reproduce.py interrupts and continues studies on this machine
@pytest.mark.timeout(2 * LIMIT_S)
def test_hosts_by_ssh_are_interrupted_continued_and_shown_on_one_page(cluster: Cluster, tmp_path):
    out = tmp_path / "out"
    words = cluster.wattle("reproduce", "--hosts", ",".join(cluster.names), "--on", "local", "--quick")
    started = subprocess.Popen(
        [*words, "--only", ",".join(ONLY), "-o", str(out)],
        env=cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=fakes.heed_signals,
    )
    until_it_runs(manifest_of(out, cluster, ONLY[1]), started)
    os.kill(started.pid, signal.SIGINT)
    _, err = started.communicate(timeout=LIMIT_S)
    assert started.returncode == 130, err
    assert f"interrupted; 1 of 2 studies left: `wattle reproduce -o {out}` continues" in err
    assert "has not run yet" in (out / page.FILE).read_text()
    before = manifest_of(out, cluster, ONLY[0]).read_text()

    done = subprocess.run(
        cluster.wattle("reproduce", "-o", out),
        env=cluster.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "2 of 2 studies complete" in done.stdout
    assert manifest_of(out, cluster, ONLY[0]).read_text() == before, "a complete study is not run again"
    results = json.loads((out / state.FILE).read_text())["results"]
    assert [(r["study"], r["state"]) for r in results] == [(study, "done") for study in ONLY]

    for study in ONLY:
        place = json.loads(manifest_of(out, cluster, study).read_text())["study"]["place"]
        assert place["hosts"] == cluster.names
        assert [node["host"] for node in place["seen"]] == cluster.names
        assert {path for node in place["seen"] for path in node["paths"]} == {"tcp/e0"}
    text = (out / page.FILE).read_text()
    assert f"hosts:{','.join(cluster.names)}" in text
    assert "has not run yet" not in text
    with tarfile.open(out / f"{archive.NAME}.tar.gz") as packed:
        names = packed.getnames()
    for study in ONLY:
        assert any(name.endswith(f"studies/{study}-hosts-{cluster.names[0]}/samples.parquet") for name in names)
