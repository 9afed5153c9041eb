"""Writes SimGrid's platform file: one host for each node, each with its own link to one switch."""

from __future__ import annotations

from wattle.sim import topology
from wattle.sim.cluster import OF_CARDS, OF_RUNTIME, Cluster
from wattle.sim.node import Clock, Node

# How a core waits: enum wtl_sim_idle_mode of src/sim/simulator.h, in its order.
RESTS = ("spin", "yield", "asleep")
IN_SECONDS = (
    "wake",
    "clock_change",
    "block",
    "near",
    "message",
    "receive",
    "leaves",
    "acknowledge",
    "record",
    "byte",
    "latency",
    "limit_window",
    *OF_RUNTIME,
)
EAGER_MOST = (1 << 31) - 1  # bytes: SimGrid reads an int, and ends the simulation at a larger number
TURBO_GHZ = 0.001  # Linux names turbo by this much above the base clock, at any real speed


def text(cluster: Cluster, node: Node, pes: int) -> str:
    """The platform file. SimGrid's P-states have one state for each pair of a clock and a way to wait, because only the
    P-state distinguishes their idle watts.
    """
    states = [(clock, rest) for clock in node.clocks for rest in RESTS]
    speeds = ",".join(f"{speed_ghz(cluster, node, clock)!r}Gf" for clock, _ in states)
    properties = {
        "wattage_per_state": ",".join(_watts(node, clock, rest) for clock, rest in states),
        "clock_speeds": ",".join(repr(speed_ghz(cluster, node, clock)) for clock in node.clocks),
        "clocks_khz": ",".join(str(round(clock.ghz * 1e6)) for clock in node.clocks),
        "base_clock": str(node.base),
        **{f"{key}_s": repr(cluster.value(key)) for key in IN_SECONDS},
        "rma": str(int(cluster.has_cards)),
        "topology": str(cluster.topology.least_links if cluster.topology else 0),
        "beside_links_s": repr(_beside_links(cluster)),
        **{f"{key}_s": repr(cluster.value(key) if cluster.has_cards else 0.0) for key in OF_CARDS},
        "bandwidth_Bps": repr(cluster.value("bandwidth")),
        "eager_B": str(round(min(EAGER_MOST, cluster.value("eager")))),
        "segment_B": repr(cluster.value("segment")),
        "packet_B": repr(cluster.value("packet")),
        "copy_socket_s": repr(cluster.value("copy_socket")),
        **_levels(cluster, node),
        "agent_core": str(round(cluster.value("agent_core"))),
        "node_pes": str(node.per_node),
        "socket_pes": str(-(-node.cores // node.sockets)),
        "domain_pes": str(max(1, round(min(pes, cluster.value("domain"))))),
        **_draws(cluster, node),
    }
    nodes = -(-pes // node.per_node)
    # For MPI, whose messages within a node SimGrid sends as well. The cores copy them (src/sim/simulator.cc).
    own = f' loopback_bw="{1 / cluster.value("copy")!r}Bps" loopback_lat="{cluster.value("near")!r}s"'
    loopback = own if node.per_node > 1 and cluster.value("copy") else ""
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
        f'  <cluster id="job" prefix="node-" suffix="" speed="{speeds}" sharing_policy="SPLITDUPLEX"{loopback}',
        f"           {_links(cluster, nodes)}>",
        *(f'    <prop id="{name}" value="{value}"/>' for name, value in properties.items()),
        "  </cluster>",
        "</platform>",
    ]
    return "\n".join(lines) + "\n"


def _levels(cluster: Cluster, node: Node) -> dict[str, str]:
    """The levels of memory of a core, enum wtl_sim_level of src/sim/simulator.h: bytes, seconds of a copied byte, and
    the share of them that follows the clock. All of it does in the caches of a core.
    """
    last = cluster.value("copy"), cluster.value("copy_clock")
    own = cluster.value("copy_memory")
    memory = (own, cluster.value("memory_clock")) if own else last
    levels = [
        (cluster.value("l1"), cluster.value("copy_l1"), 1.0),
        (cluster.value("l2"), cluster.value("copy_l2"), 1.0),
        (cluster.value("l3") * node.share, *last),
        (0.0, *memory),
    ]
    names = ("B", "copy_s", "clock")
    return {
        f"level{number}_{name}": repr(value)
        for number, level in enumerate(levels)
        for name, value in zip(names, level, strict=True)
    }


def _links(cluster: Cluster, nodes: int) -> str:
    """SimGrid's topology. By default a message crosses two links, to and from a switch."""
    bandwidth, shape = cluster.value("bandwidth"), cluster.topology
    if shape is None:
        return f'radical="0-{nodes - 1}" bw="{bandwidth!r}Bps" lat="{cluster.value("latency") / 2!r}s"'
    link = cluster.numbers.get("link", cluster.numbers["bandwidth"]).value
    kind = f'topology="{topology.OF_SIMGRID[shape.kind]}" topo_parameters="{shape.parameters}"'
    return f'radical="0-{shape.places - 1}" bw="{link!r}Bps" lat="{cluster.value("hop")!r}s" {kind}'


def _beside_links(cluster: Cluster) -> float:
    """The part of the latency that no link has, in s."""
    shape = cluster.topology
    return cluster.value("latency") - shape.least_links * cluster.value("hop") if shape else 0.0


def speed_ghz(cluster: Cluster, node: Node, clock: Clock) -> float:
    """The speed of a core at a clock: the clock itself, except for turbo."""
    base = node.clocks[node.base].ghz
    is_turbo = 0 < clock.ghz - base < 2 * TURBO_GHZ
    return cluster.value("turbo") * 1e-9 if is_turbo and cluster.value("turbo") else clock.ghz


def _draws(cluster: Cluster, node: Node) -> dict[str, str]:
    """The watts of a core with its share of the network card (by core) and of the uncore (by socket), by state."""
    rows, by_core = node.rows, 1 / node.cores
    dram, dram_byte = rows["idle.dram"], rows["dram.per_byte"]
    nic, nic_byte, uncore = (cluster.numbers[key] for key in ("nic", "nic_byte", "uncore"))
    found = {
        "idle_w": node.idle_w,
        "uncore_w": uncore.value,
        "uncore_w_plus_minus": uncore.plus_minus,
        "network_w": nic.value * by_core,
        "network_w_plus_minus": nic.plus_minus * by_core,
        "network_byte_j": nic_byte.value,
        "network_byte_j_plus_minus": nic_byte.plus_minus,
        "dram_w": _value(dram) * node.share,
        "dram_w_plus_minus": float(dram["plus_minus"]) * node.share,
        "dram_byte_j": _value(dram_byte),
        "dram_byte_j_plus_minus": float(dram_byte["plus_minus"]),
    }
    return {name: repr(float(value)) for name, value in found.items()}


def _value(row: dict[str, object]) -> float:
    return float(row["value"])  # type: ignore[arg-type]


def _watts(node: Node, clock: Clock, rest: str) -> str:
    busy = node.idle_w + _value(clock.watts["active"])
    idle = node.idle_w + _value(clock.watts[rest])
    return f"{idle!r}:{busy!r}:{busy!r}"
