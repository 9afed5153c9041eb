"""`wattle machines`: lists and shows the CPUs of the machine table, and predicts the watts of a machine."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from wattle.base import input_files, limits
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machines import predict, table
from wattle.machines.classes import DESKTOP, SERVER, MachineClass
from wattle.machines.predict import Machine, Prediction, Watts
from wattle.machines.table import LOADS, Generation, Processor, Table
from wattle.text import console
from wattle.text.tables import table as new_table

LOADS_SHOWN = (0, 10, 30, 50, 70, 100)
CORES_OF_UNKNOWN = 4  # of a machine without a known number of cores that is no server
WHOLE_WATTS = 20  # figures below have one decimal
MOST = 1 << 20  # of sockets, cores, threads and GB

machines_app = typer.Typer(
    help="List the CPUs whose watts are known, show one, or predict the watts of a machine.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
OF_SERVERS = "Modelled; each range holds about 95 % of such servers."
OF_CLASS = (
    "Modelled, from single readings of {machines} machines of the class {title}. Each range is the shortest one that "
    "holds about 95 % of them."
)
AT_A_FIXED_CLOCK = "A machine that lowers its clock at part load draws less than packages say; --clock gives its clock."
IDLE = (
    "Watts are the middle of the range. Idle packages differ most, so there the middle ({watts:.0f} W) is above the "
    "median ({median:.0f} W). It may be above the wall socket and above the watts at 10 %, as no single machine is."
)
WALL_TERMS = {  # with the tags of machine profiles
    "processors": ("derived", "sockets x TDP x the share of the generation at this load, fitted to SPECpower_ssj2008"),
    "memory": ("derived", "memory_gb x watts of a GB of such modules, fitted to SPECpower_ssj2008"),
    "fixed": (
        "derived",
        "fans, disks and fixed losses of the power supply of one server, the same at all loads; the "
        "constant of the fit to SPECpower_ssj2008",
    ),
    "ordinary": ("derived", "servers that are not tuned for SPECpower draw more; half of the ratio of readings"),
}
CLASS_TERMS = {
    "board": ("derived", "the idle machine: board, supply, memory; median of readings of the class"),
    "processors": ("derived", "TDP or power limit x the share of the class at this load; median of readings"),
}
PARTS_AND_WALL = (
    "Packages and memory were fitted to cloud servers under load, the wall socket to servers tuned for SPECpower. For "
    "numerical programs packages and memory are more reliable, and the wall socket draws at least as much. For a tuned "
    "server with a light load the wall socket is."
)


def _number(text: str) -> int:
    """A number of CPUID, decimal or as 0xd0c."""
    try:
        return int(text, 0)
    except ValueError:
        raise typer.BadParameter("expected a whole number, such as 17 or 0xd0c") from None


@machines_app.command("list")
def list_machines(json: Json = False) -> None:
    """List the CPU generations of the table and the profiles of single machines."""
    of = _table()
    own = _profiles()
    if json:
        console.print_json({"generations": [_row(of, g) for g in of.generations], "profiles": own})
        return
    shown = new_table(
        "CPU generations",
        f"servers: those at the wall socket; all packages have {of.packages['any'].servers} servers, by RAPL",
    )
    for heading in ("name", "CPUs", "servers"):
        shown.add_column(heading, justify="right" if heading == "servers" else "left", overflow="fold")
    for g in of.generations:
        shown.add_row(g.name, g.title, str(g.servers) if not g.is_assumed else "assumed")
    console.out.print(shown)
    console.out.print()
    console.out.print(f"Profiles of single machines (WATTLE_MACHINE): {', '.join(own)}", soft_wrap=True)


@machines_app.command("show")
def show(name: Annotated[str, typer.Argument(help="A name of `wattle machines list`.")], json: Json = False) -> None:
    """Show the watts of a CPU generation by load, or the text of a machine profile."""
    of = _table()
    chosen = next((g for g in (*of.generations, of.unknown) if g.name == name), None)
    if chosen is None:
        if name not in _profiles():
            raise WattleError(f"no CPU generation or profile {name!r}; `wattle machines list` has the names")
        text = input_files.read_text(paths.machines_dir() / f"{name}.yaml", limits.TEXT_BYTES)
        if json:
            console.print_json({"profile": name, "text": text})
        else:
            for line in text.rstrip().splitlines():
                console.out.print(line, soft_wrap=True)
        return
    if json:
        console.print_json(_row(of, chosen) | {"loads": _loads(of, chosen)})
        return
    for line in _about(of, chosen):
        console.out.print(line, soft_wrap=True)
    console.out.print()
    shown = new_table("A socket of typical size, in watts")
    for heading in ("load", "package", "wall"):
        shown.add_column(heading, justify="right")
    for row in _loads(of, chosen):
        if row["load"] in LOADS_SHOWN:
            shown.add_row(f"{row['load']} %", _cell(Watts(**row["package"])), _cell(Watts(**row["wall"])))
    console.out.print(shown)
    console.out.print(_range_of(of.classes.get(DESKTOP) if chosen.is_desktop else None))
    idle = predict.Watts(**_loads(of, chosen)[0]["package"])
    console.out.print(IDLE.format(watts=idle.watts, median=idle.median))


@machines_app.command("predict")
def predict_watts(
    cpu: Annotated[str, typer.Option("--cpu", help="The CPU's name, as /proc/cpuinfo has it.")],
    load: Annotated[
        float, typer.Option("--load", help="Percent of time that each thread computes.", metavar="PERCENT")
    ],
    family: Annotated[
        int | None,
        typer.Option("--family", parser=_number, metavar="N", help="CPU family, as /proc/cpuinfo has it."),
    ] = None,
    model: Annotated[
        int | None,
        typer.Option("--model", parser=_number, metavar="N", help="CPU model or part, as /proc/cpuinfo has it."),
    ] = None,
    stepping: Annotated[
        int | None, typer.Option("--stepping", parser=_number, metavar="N", help="Stepping, as /proc/cpuinfo has it.")
    ] = None,
    sockets: Annotated[
        int | None, typer.Option("--sockets", help="Sockets of the machine. Default: as many as its cores need.")
    ] = None,
    cores: Annotated[int | None, typer.Option("--cores", help="Cores of all sockets.")] = None,
    threads: Annotated[int | None, typer.Option("--threads", help="Threads of all cores.")] = None,
    memory: Annotated[float | None, typer.Option("--memory", help="Memory of the machine.", metavar="GB")] = None,
    clock: Annotated[
        float,
        typer.Option(
            "--clock", help="Percent of the highest clock at this load, where a governor lowers it.", metavar="PERCENT"
        ),
    ] = 100.0,
    json: Json = False,
) -> None:
    """Predict the watts of a whole machine: packages, memory, and wall socket.

    All figures are modelled. Each has the half-width of the range that holds about 95 % of such servers.
    """
    if not (math.isfinite(load) and 0 <= load <= 100):
        raise WattleError(f"--load {load}: allowed are 0 to 100 percent")
    if not 10 <= clock <= 100:  # also for NaN
        raise WattleError(f"--clock {clock:g}: allowed are 10 to 100 percent")
    for option, value in (("--sockets", sockets), ("--cores", cores), ("--threads", threads), ("--memory", memory)):
        if value is not None and not 0 < value <= MOST:
            raise WattleError(f"{option} {value}: allowed are numbers above 0, up to {MOST}")
    of = _table()
    found = table.find(of, cpu, family, model, stepping)
    typical = found.typical if found else of.unknown
    sockets = sockets or (max(1, round(cores / typical.cores)) if cores and typical is not of.unknown else 1)
    is_small = typical is of.unknown and (found is None or found.machine in of.classes)
    cores = cores or sockets * (CORES_OF_UNKNOWN if is_small else typical.cores)
    threads = threads or max(cores, round(cores * typical.threads / typical.cores))
    if threads < cores or cores < sockets:
        raise WattleError(
            f"{sockets} sockets, {cores} cores and {threads} threads: a socket has a core, a core a thread"
        )
    machine = Machine(cpu, family, model, stepping, sockets, cores, threads, memory)
    answer = predict.predict(of, machine, load, clock=clock / 100)
    document = _prediction(answer, of, machine, load) | {"clock_percent": clock}
    if json:
        console.print_json(document)
        return
    basis = "class" if _class(of, answer) else "number of cores"
    doubt = ", not verified" if answer.tdp_known else f", estimated from the {basis}"
    tdp = f"{answer.tdp_w:.0f} W a socket" + ("" if answer.tdp_verified else doubt)
    name = _class_words(of, answer) or f"{answer.generation.title}, {_servers(of, answer.generation)}"
    console.out.print(f"model: {name}; TDP {tdp}", soft_wrap=True)
    shown = new_table()
    for heading in ("part", "watts", "half-width"):
        shown.add_column(heading, justify="left" if heading == "part" else "right")
    for part, watts in (("packages", answer.package), ("memory", answer.dram), ("wall socket", answer.wall)):
        shown.add_row(part, _cell(watts), f"{100 * watts.plus_minus / watts.watts:.0f} %")
    console.out.print(shown)
    console.out.print(_range_of(_class(of, answer)))
    if answer.parts_exceed_wall and not _class(of, answer):
        words = f"Packages and memory come to {_cell(answer.parts)} W, more than the wall socket. {PARTS_AND_WALL}"
        console.out.print(words)


def _class(of: Table, answer: Prediction) -> MachineClass | None:
    return of.classes.get(answer.machine_class)


def _class_words(of: Table, answer: Prediction) -> str:
    """The class and its readings; "" for servers."""
    kind = _class(of, answer)
    name = "" if answer.generation is of.unknown else f"{answer.generation.title}, "
    return f"{name}{kind.title}, readings of {kind.machines} machines" if kind else ""


def _range_of(kind: MachineClass | None) -> str:
    """How the range of packages is to be read. `kind`: None for servers."""
    words = OF_CLASS.format(machines=kind.machines, title=kind.title) if kind else OF_SERVERS
    return f"{words} {AT_A_FIXED_CLOCK}"


def _prediction(answer: Prediction, of: Table, machine: Machine, load: float) -> dict[str, Any]:
    terms = CLASS_TERMS if _class(of, answer) else WALL_TERMS
    return {
        "package": _watts(answer.package),
        "dram": _watts(answer.dram),
        "wall": _watts(answer.wall),
        "wall_terms": {
            name: {"watts": watts, "tag": terms[name][0], "how": terms[name][1]}
            for name, watts in answer.wall_terms.items()
        },
        "parts": _watts(answer.parts),
        "parts_exceed_wall": answer.parts_exceed_wall,
        "provenance": "modelled",
        "profile": answer.generation.name,
        "class": answer.machine_class,
        "title": answer.generation.title,
        "basis": answer.generation.basis,
        **_counts(of, answer.generation),
        **fields(answer, "tdp_w tdp_known tdp_verified"),
        "power_limit_w": answer.limit_w or None,
        "load_percent": load,
        **fields(machine, "sockets cores threads memory_gb"),
    }


def _table() -> Table:
    return table.read(paths.find_home().shared("machines") / "cpus.toml")


def _profiles() -> list[str]:
    return sorted(path.stem for path in paths.find_home().shared("machines").glob("*.yaml"))


def _loads(of: Table, g: Generation) -> list[dict[str, Any]]:
    """The watts of one typical socket, whose TDP is known, at each load of the table."""
    machine = Machine("", None, None, None, 1, g.cores, g.threads, None)
    found = table.Found(g, table.Processor("", g.tdp_w, g.cores, g.threads), DESKTOP if g.is_desktop else SERVER)
    rows = []
    for load in LOADS:
        answer = predict.of_found(of, found, machine, load)
        rows.append({"load": load, "package": _watts(answer.package), "wall": _watts(answer.wall)})
    return rows


def _counts(of: Table, g: Generation) -> dict[str, int]:
    """The servers behind the watts: `servers` at the wall socket, and those of all packages."""
    return {"servers": g.servers, "servers_by_rapl": of.packages["any"].servers}


def _servers(of: Table, g: Generation) -> str:
    """The servers behind the watts in words, as in the titles that the library gives its profiles."""
    basis = f"{g.basis}, " if g.is_assumed else ""
    s = "" if g.servers == 1 else "s"
    return f"{basis}{g.servers} server{s} at the wall, {of.packages['any'].servers} by RAPL"


def _row(of: Table, g: Generation) -> dict[str, Any]:
    return {
        **fields(g, "name title vendor family models"),
        "steppings": list(g.steppings) if g.steppings else None,
        **fields(g, "tdp_w cores threads"),
        **_counts(of, g),
        "basis": g.basis,
        "processors": [p.name for p in g.processors],
    }


def _basis_of(of: Table, g: Generation) -> str:
    if g.is_desktop:
        kind = of.classes[DESKTOP]
        return f"{kind.title}, readings of {kind.machines} machines; a notebook has those of its class"
    return _servers(of, g) + ("" if g.is_assumed else f"; {g.basis}")


def _about(of: Table, g: Generation) -> list[str]:
    models = ", ".join(map(str, g.models))
    steppings = f", steppings {g.steppings[0]} to {g.steppings[1]}" if g.steppings else ""
    lines = [
        f"{g.title}",
        f"CPUID: {g.vendor}, family {g.family}, models {models}{steppings}" if g.models else "CPUID: any",
        f"Typical socket: {g.cores} cores, {g.threads} threads, TDP {g.tdp_w:.0f} W",
        f"Basis: {_basis_of(of, g)}",
    ]
    if g.processors:
        lines.append("Processors with a known TDP: " + ", ".join(map(_processor, g.processors)))
    return lines


def _processor(p: Processor) -> str:
    return f"{p.name} ({p.tdp_w:g} W{', not verified' if p.tdp_spread else ''})"


def _cell(watts: Watts) -> str:
    digits = 0 if watts.watts >= WHOLE_WATTS else 1
    return f"{watts.watts:.{digits}f} ± {watts.plus_minus:.{digits}f}"


def _watts(watts: Watts) -> dict[str, float]:
    return {"watts": watts.watts, "plus_minus": watts.plus_minus}
