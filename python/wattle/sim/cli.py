"""The command `wattle sim`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from wattle import console, info, manifest, paths, runs, units
from wattle.checked import read_json, require_schema
from wattle.errors import WattleError
from wattle.manifest import Manifest
from wattle.run import directory as directories
from wattle.run import job
from wattle.run.show import show
from wattle.run.summary import document
from wattle.sim import cluster as clusters
from wattle.sim import node as nodes
from wattle.sim import platform
from wattle.symbols import resolve

SIMULATOR = "wattle-simulator"
PES_MOST = 99999  # five digits in the name of a profile file
# The network loses nothing, so nobody listens for signs of life; prices of waiting are the cluster's.
FIXED = {"WATTLE_SILENCE": "0", "WATTLE_PRICES": "none", "WATTLE_BOOT": "auto"}


def sim(
    command: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="Built by `oshcc --sim`, and its arguments, best after --."),
    ],
    n: Annotated[int, typer.Option("-n", "--np", metavar="N", help="Number of PEs, each on a core of its own.")],
    machine: Annotated[
        str, typer.Option(metavar="CLUSTER", help="A cluster of machines/clusters, or a file that ends in .toml.")
    ] = "sandybridge-ib",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="New or empty directory; default: one in wattle-runs."),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting for this run; may be repeated.")
    ] = None,
    profile: Annotated[bool, typer.Option("--profile/--no-profile", help="Count calls, bytes and waiting.")] = True,
    json: Annotated[
        bool,
        typer.Option("--json", help="One JSON document on standard output; the program's own goes to standard error."),
    ] = False,
) -> int:
    """Run a program on a described cluster instead of this machine: as many PEs as you like, with clocks and joules.

    Time is simulated: what the program computes is counted by basic blocks, so the same arguments always give the same
    result. The directory is as `wattle run` writes it.
    """
    if not 1 <= n <= PES_MOST:
        raise WattleError(f"-n {n}: expected 1 to {PES_MOST}")
    tool = _simulator()
    chosen = _chosen(settings or []) | {"WATTLE_PROFILE": "on" if profile else "off"}
    described = clusters.read(machine)
    known = info.ask({**os.environ, **chosen, "WATTLE_MACHINE": described.machine})
    core = nodes.read(known.machine)
    where = directories.prepare(output, command[0])
    files = _write(where, described, core, n)
    environment = {**os.environ, **FIXED, **chosen, "WATTLE_MACHINE": str(files["machine"])}
    environment.pop("WATTLE_PROFILE_DIR", None)
    if profile:
        environment["WATTLE_PROFILE_DIR"] = str(directories.profile_folder(where))
    record = manifest.start("run", command, n, settings=known.values | chosen, machine=described.machine)
    record.meter = {"name": "simgrid", "why": ""}
    record.extra = {"profile": profile, "set": chosen, "simulated": _described(described)}
    manifest.write(where, record)
    argv = [str(tool), str(files["platform"]), str(files["result"]), str(n), *command]
    outcome = job.run(argv, environment, None, 2 if json else None, console.note)
    record.exit_code = outcome.exit_code
    found = _result(files["result"])
    record.wall_s = found["simulated_s"] if found else None
    record.extra["simulated"] |= {"simulating_s": outcome.wall_s, "messages": found and found["messages"]}
    manifest.write(where, record)
    if found and found["waits"]:
        _show_deadlock(found["waits"], command[0])
        return outcome.exit_code
    if outcome.exit_code == 0:
        _present(where, record, json)
    return outcome.exit_code


def _simulator() -> Path:
    try:
        return paths.tool(SIMULATOR)
    except WattleError:
        raise WattleError(
            "wattle sim is unavailable: Wattle was built without SimGrid (Debian: apt install libsimgrid-dev, "
            "then build again)"
        ) from None


def _chosen(pairs: list[str]) -> dict[str, str]:
    chosen = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise WattleError(f"--set {pair}: expected NAME=VALUE, as in --set WATTLE_WAIT=spin")
        chosen[name] = value
    return chosen


def _write(where: Path, described: clusters.Cluster, core: nodes.Node, n: int) -> dict[str, Path]:
    files = {
        "platform": where / "platform.xml",
        "machine": where / "machine.yaml",
        "result": where / "simulation.json",
    }
    files["platform"].write_text(platform.text(described, core, n), encoding="utf-8")
    files["machine"].write_text(nodes.share(core, f"{core.profile}-core"), encoding="utf-8")
    return files


def _described(described: clusters.Cluster) -> dict[str, Any]:
    """What the result rests on, with every number's tag."""
    numbers = {key: vars(number) for key, number in described.numbers.items()}
    return {"cluster": described.name, "network": described.network, "numbers": numbers}


def _result(path: Path) -> dict[str, Any] | None:
    """What the simulator wrote; None where it was ended before. A call lies before the address it returns to."""
    if not path.is_file() or not path.stat().st_size:
        return None
    checked = read_json(path)
    require_schema(checked, 1)
    waits = []
    if checked.has("waits"):
        waits = [
            (row.integer("pe"), row.text("call"), max(row.integer("offset") - 1, 0)) for row in checked.items("waits")
        ]
    return {"simulated_s": checked.number("simulated_s"), "messages": checked.integer("messages"), "waits": waits}


def _show_deadlock(waits: list[tuple[int, str, int]], program: str) -> None:
    """The PEs by where they wait."""
    path = str(Path(program).resolve())
    from wattle import elf

    build_id = elf.build_id(path) or ""
    places = resolve((path, build_id, offset) for _, _, offset in waits)
    together: dict[tuple[str, str], list[int]] = {}
    for pe, call, offset in waits:
        label = places[path, build_id, offset].label if offset else "-"
        together.setdefault((call, label), []).append(pe)
    console.error("deadlock: no PE can go on")
    for (call, label), pes in together.items():
        console.err.print(f"  {escape(call)} at {escape(label)}: PE {_ranges(pes)}", soft_wrap=True)


def _ranges(pes: list[int]) -> str:
    from wattle.plan.file import ranges

    return ranges(pes)


def _present(where: Path, record: Manifest, json: bool) -> None:
    if not record.extra["profile"]:
        return
    found = runs.load(where, allow_damaged=True)
    if json:
        console.print_json(document(found))
        return
    show(found, console.err)
    simulated = record.extra["simulated"]
    console.err.print(
        f"\nSimulated {units.seconds(record.wall_s)} on {simulated['cluster']} in "
        f"{units.seconds(simulated['simulating_s'])}, {simulated['messages']:,} messages.",
        soft_wrap=True,
    )
