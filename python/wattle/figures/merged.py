"""Messages that merging avoided, and the joules that they would have cost their senders.

An operation that leaves in a message which an earlier one began saves the time to send a message of its own. Each PE
measures that time for its messages with one operation. The joules are that time multiplied by the PE's mean watts on a
core. The target's work for a message is not counted, so the saving is rather larger.
"""

from __future__ import annotations

import math

from wattle.record.pe import PE, find
from wattle.record.profile import RunProfile
from wattle.text import units
from wattle.text.provenance import Joules, Provenance, total, unavailable

DOMAIN = "cpu"


def avoided(pe: PE) -> Joules:
    """The joules that merging saved this PE. The range is from the quickest message's time at the lowest watts to the
    mean time at the highest. Unavailable where the PE sent no message with one operation, or its joules are not known.
    """
    network, whole = pe.network, find(pe.joules, DOMAIN)
    if network is None or network.single is None or network.messages["merged"] is None:
        return unavailable(DOMAIN)
    merged = network.messages["merged"]
    if merged == 0:
        return Joules(0.0, 0.0, Provenance.MODELLED, whole.source, whole.scope, DOMAIN)
    single = network.single
    count, seconds, least = single["messages"], single["seconds"], single["least_s"]
    if not count or seconds is None or least is None or whole.joules is None or not pe.cpu_s:
        return unavailable(DOMAIN, whole.source, whole.scope)
    watts, doubt = whole.joules / pe.cpu_s, (whole.uncertainty or 0.0) / pe.cpu_s
    low = merged * least * max(0.0, watts - doubt)
    high = merged * seconds / count * (watts + doubt)
    middle, half = (low + high) / 2, (high - low) / 2
    if not math.isfinite(middle):
        return unavailable(DOMAIN, whole.source, whole.scope)
    return Joules(middle, half, Provenance.MODELLED, whole.source, whole.scope, DOMAIN)


def of_run(profile: RunProfile) -> Joules:
    """The sum over the PEs with a network."""
    return total(avoided(pe) for pe in profile.pes if pe.network is not None)


def words(profile: RunProfile) -> str:
    """A sentence on the messages between nodes; empty where there were none, or where nothing is known of merging."""
    network = profile.network
    if network is None or network.messages["merged"] is None or not network.messages["sent"]:
        return ""
    sent, merged, length = network.messages["sent"], network.messages["merged"], ""
    if network.bytes["sent"] is not None:
        length = f" of {units.size(network.bytes['sent'] / sent)} on average"
    found = of_run(profile)
    saved = f": {found} avoided at their senders" if found.known and merged else ""
    return (
        f"Messages between nodes: {units.count(sent)}{length}. "
        f"{units.count(merged)} operations shared a message with earlier ones{saved} (WATTLE_MERGE)."
    )
