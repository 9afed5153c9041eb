"""The figures of a finished run as one document, which `--json` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from wattle.figures import balance as balances
from wattle.figures import carbon, merged, pe_power, regions, user_regions, waiting
from wattle.figures.metrics import metrics, spread
from wattle.figures.sites import MergedSite, merge
from wattle.meter_log import kept as external
from wattle.record import jobs
from wattle.record.pe import MOVES, PE, SPENT, TIMES, Cores, Network
from wattle.record.profile import RunProfile
from wattle.record.runs import Run
from wattle.run import ended
from wattle.text.provenance import Joules

SCHEMA = 1


def document(run: Run) -> dict[str, Any]:
    """All figures of the run: manifest, PEs, totals, nodes, call sites, PEs without a profile, figures over repeats."""
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": "run",
        "directory": str(run.directory),
        "exit_code": run.manifest.exit_code,
        "manifest": run.manifest.as_dict(),
    }
    if (found := external.load(run.directory)) is not None:
        result["external"] = {"why": found.why, "clock": found.clock, "joules": found.as_dict()["joules"]}
    profile = run.middle.profile
    if profile is not None:
        result |= of_profile(profile, merge(profile))
        result["jobs"] = [job.as_dict() for job in jobs.of(run.middle.directory)]
        result["power"] = pe_power.as_dict(profile, run.middle.manifest)
        grams = run.middle.manifest.extra.get("carbon_g_per_kwh")
        if grams is not None:
            result["carbon"] = carbon.of(balances.of_nodes(profile, node_domains(profile)), grams).as_dict()
    if run.manifest.repeats:
        result["shown"] = run.middle.directory.name
        result["repeats"] = {m.name: spread(m, run.samples).as_dict() for m in metrics(run.samples)}
    return result


def of_profile(profile: RunProfile, sites: list[MergedSite]) -> dict[str, Any]:
    domains = profile.domains
    return {
        "pes": [_pe(pe) for pe in profile.pes],
        "ended": [row.as_dict() for row in ended.rows(profile)],
        "missing": profile.missing,
        "damaged": [{"pe": pe, "wrong": wrong} for pe, wrong in sorted(profile.damaged.items())],
        "total": {
            "pes": len(profile.pes),
            "wall_s": profile.wall_s,
            "cpu_s": profile.cpu_s,
            "time_s": {key: profile.sum("time_s", key) for key in TIMES},
            "state_s": {key: profile.sum("state_s", key) for key in SPENT},
            "bytes": {key: profile.sum("bytes", key) for key in MOVES},
            "joules": _figures([profile.joules(d) for d in domains]),
            "network": _network(profile.network, merged.of_run(profile)),
        },
        "nodes": [node.as_dict() for node in profile.nodes],
        "node": {
            "joules": _figures([profile.node_joules(d) for d in node_domains(profile)]),
            "idle": _figures([profile.idle_joules(d) for d in node_domains(profile)]),
            "others": _figures([f for d in node_domains(profile) if (f := profile.others_joules(d)) is not None]),
        },
        "sites": [site.as_dict() for site in sites],
        "regions": [found.as_dict() for found in regions.merge(profile)],
        "user_regions": [found.as_dict() for found in user_regions.merge(profile)],
        "waiting": [found.as_dict() for found in waiting.by_kind(sites)],
        "imbalance": [found.as_dict() for found in waiting.imbalances(sites, profile.n_pes, profile.program)],
        **balances.as_dict(profile, node_domains(profile)),
    }


def node_domains(profile: RunProfile) -> list[str]:
    return list(dict.fromkeys(j.domain for pe in profile.pes for j in pe.node))


def _figures(figures: list[Joules]) -> list[dict[str, object]]:
    return [figure.as_dict() for figure in figures]


def _pe(pe: PE) -> dict[str, Any]:
    return {
        "pe": pe.pe,
        "host": pe.host,
        "pid": pe.pid,
        "wall_s": pe.wall_s,
        "cpu_s": pe.cpu_s,
        "time_s": pe.time_s,
        "state_s": pe.state_s,
        "bytes": pe.bytes,
        "no_core": _cores(pe.cores),
        "sleeps": pe.sleeps,
        "rescues": pe.rescues,
        "joules": _figures(pe.joules),
        "network": _network(pe.network, merged.avoided(pe)),
        "clocks": msgspec.to_builtins(pe.clocks) if pe.clocks else None,
        "ended": msgspec.to_builtins(pe.ended) if pe.ended else None,
        "operations": msgspec.to_builtins(pe.operations) if pe.operations else None,
        "partners": msgspec.to_builtins(pe.partners) if pe.partners else None,
        "sizes": pe.sizes,
    }


def _cores(found: Cores | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return msgspec.to_builtins(found) | {"cores": sorted(found.cores), "threads_cores": sorted(found.threads_cores)}


def _network(network: Network | None, avoided: Joules) -> dict[str, Any] | None:
    return None if network is None else msgspec.to_builtins(network) | {"avoided": avoided.as_dict()}
