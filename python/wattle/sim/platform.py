"""The platform file: a host a PE, and a link of its own for each to one switch."""

from __future__ import annotations

from wattle.sim.cluster import Cluster
from wattle.sim.node import Clock, Node

# How a core rests: enum wtl_sim_rest of src/sim/simulator.h, in its order.
RESTS = ("spin", "yield", "asleep")


def text(cluster: Cluster, node: Node, pes: int) -> str:
    """SimGrid's P-states: for each clock one for each way to rest, which alone tells their idle watts apart."""
    states = [(clock, rest) for clock in node.clocks for rest in RESTS]
    speeds = ",".join(f"{clock.ghz!r}Gf" for clock, _ in states)
    properties = {
        "wattage_per_state": ",".join(_watts(node, clock, rest) for clock, rest in states),
        "clocks_khz": ",".join(str(round(clock.ghz * 1e6)) for clock in node.clocks),
        "base_clock": str(node.base),
        "wake_s": repr(cluster.value("wake")),
        "clock_change_s": repr(cluster.value("clock_change")),
        "block_s": repr(cluster.value("block")),
        "latency_s": repr(cluster.value("latency")),
        "bandwidth_Bps": repr(cluster.value("bandwidth")),
        "copy_s": repr(cluster.value("copy")),
        "message_s": repr(cluster.value("message")),
        "byte_s": repr(cluster.value("byte")),
    }
    half = cluster.value("latency") / 2  # a message takes two links
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
        f'  <cluster id="job" prefix="pe-" suffix="" radical="0-{pes - 1}" speed="{speeds}"',
        f'           bw="{cluster.value("bandwidth")!r}Bps" lat="{half!r}s" sharing_policy="SPLITDUPLEX">',
        *(f'    <prop id="{name}" value="{value}"/>' for name, value in properties.items()),
        "  </cluster>",
        "</platform>",
    ]
    return "\n".join(lines) + "\n"


def _watts(node: Node, clock: Clock, rest: str) -> str:
    busy = node.idle_w + float(clock.watts["active"]["value"])
    idle = node.idle_w + float(clock.watts[rest]["value"])
    return f"{idle!r}:{busy!r}:{busy!r}"
