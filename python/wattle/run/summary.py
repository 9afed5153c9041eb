"""The figures of a finished run as one document, which `--json` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from wattle.base.documents import fields, plain
from wattle.figures import balance as balances
from wattle.figures import carbon, merged, pe_power, power_budget, regions, user_regions, waiting
from wattle.figures.metrics import metrics, spread
from wattle.figures.sites import MergedSite, merge
from wattle.meter_log import kept as external
from wattle.record import jobs
from wattle.record.pe import PE, Moves, Network, States, Times
from wattle.record.profile import RunProfile
from wattle.record.runs import Run
from wattle.run import unfinished
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
        result["jobs"] = plain(jobs.of(run.middle.directory))
        result["power"] = pe_power.as_dict(profile, run.middle.manifest)
        grams = run.middle.manifest.extra.get("carbon_g_per_kwh")
        if grams is not None:
            result["carbon"] = carbon.of(balances.of_nodes(profile, profile.node_domains), grams).as_dict()
    if run.manifest.repeats:
        result["shown"] = run.middle.directory.name
        result["repeats"] = {m.name: spread(m, run.samples).as_dict() for m in metrics(run.samples)}
    return result


def of_profile(profile: RunProfile, sites: list[MergedSite]) -> dict[str, Any]:
    domains = profile.domains
    return {
        "pes": [_pe(pe) for pe in profile.pes],
        "ended": plain(unfinished.rows(profile)),
        "missing": profile.missing,
        "damaged": [{"pe": pe, "wrong": wrong} for pe, wrong in sorted(profile.damaged.items())],
        "total": {
            "pes": len(profile.pes),
            "wall_s": profile.wall_s,
            "cpu_s": profile.cpu_s,
            "time_s": {key: profile.sum("time_s", key) for key in Times.__annotations__},
            "state_s": {key: profile.sum("state_s", key) for key in States.__annotations__},
            "bytes": {key: profile.sum("bytes", key) for key in Moves.__annotations__},
            "joules": plain([profile.joules(d) for d in domains]),
            "network": _network(profile.network, merged.of_run(profile)),
        },
        "nodes": plain(profile.nodes),
        "node": {
            "joules": plain([profile.node_joules(d) for d in profile.node_domains]),
            "idle": plain([profile.idle_joules(d) for d in profile.node_domains]),
            "others": plain([f for d in profile.node_domains if (f := profile.others_joules(d)) is not None]),
        },
        "sites": plain(sites),
        "regions": plain(regions.merge(profile)),
        "user_regions": plain(user_regions.merge(profile)),
        "waiting": plain(waiting.by_kind(sites)),
        "imbalance": plain(waiting.imbalances(sites, profile.n_pes, profile.program)),
        **balances.as_dict(profile, profile.node_domains),
        "power_budget": budget.as_dict() if (budget := power_budget.of(profile)) else None,
    }


def _pe(pe: PE) -> dict[str, Any]:
    return {
        **fields(pe, "pe host pid wall_s cpu_s time_s state_s bytes"),
        "no_core": _as_dict(pe.cores),
        **fields(pe, "sleeps rescues joules"),
        "network": _network(pe.network, merged.avoided(pe)),
        **{key: _as_dict(getattr(pe, key)) for key in ("clocks", "ended", "operations", "partners")},
        "sizes": {of.call: of.counts for of in pe.sizes},
    }


def _as_dict(part: Any) -> Any:
    return msgspec.to_builtins(part, enc_hook=int, order="deterministic")


def _network(network: Network | None, avoided: Joules) -> dict[str, Any] | None:
    return None if network is None else _as_dict(network) | {"avoided": avoided.as_dict()}
