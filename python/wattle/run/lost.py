"""What has to be said of a run's profiles, on the terminal and the page: hosts that left none, dropped messages."""

from __future__ import annotations

from wattle import units
from wattle.manifest import Manifest
from wattle.profile import RunProfile


def silent_hosts_words(profile: RunProfile, manifest: Manifest) -> str:
    """Which of the hosts that the job was given left no profile, and what may be wrong; empty where all is well."""
    if not (profile.missing and profile.pes and manifest.hosts):
        return ""
    seen = [node.host for node in profile.nodes]
    silent = [host for host in manifest.hosts if not any(_alike(host, other) for other in seen)]
    if not silent:
        return ""
    if any(not any(_alike(host, other) for host in manifest.hosts) for other in seen):  # they call themselves otherwise
        return f"Profiles came only from {_names(seen)}; the job was given {_names(manifest.hosts)}. {_advice(profile)}"
    return f"No profile came from {_names(silent)}. {_advice(profile)}"


def readers_words(profile: RunProfile) -> str:
    """Hosts whose meter several PEs say they read; empty where there are none."""
    found = [node for node in profile.nodes if len(node.readers) > 1]
    said = [f"PE {units.ranges(node.readers)} each read the meter of {node.host}" for node in found]
    if not said:
        return ""
    return f"{'; '.join(said)}: several nodes of one name, which cannot be told apart, so their joules are not known."


def _advice(profile: RunProfile) -> str:
    folder = profile.directory / "profile"
    return f"Every host must be able to write to {folder}; give a directory on a file system they share with -o."


def _alike(host: str, other: str) -> bool:
    """Names of one host, with or without the domain."""
    return host == other or (host.partition(".")[0] == other.partition(".")[0] and ("." in host) != ("." in other))


def _names(hosts: list[str]) -> str:
    return hosts[0] if len(hosts) == 1 else f"{', '.join(hosts[:-1])} and {hosts[-1]}"


def dropped_words(profile: RunProfile) -> str:
    """How many messages the PEs refused to take; empty where none."""
    network = profile.network
    counts = {key: network.dropped[key] for key in network.dropped} if network else {}
    said = [f"{units.count(value)} {key}" for key, value in counts.items() if value]
    if not said:
        return ""
    pes = [pe.pe for pe in profile.pes if pe.network and any(pe.network.dropped.values())]
    total = sum(value for value in counts.values() if value)
    return (
        f"PE {units.ranges(pes)} dropped {' and '.join(said)} message{'s' if total != 1 else ''} from the network: "
        "something that is not of this job speaks to its ports. None was written to memory."
    )
