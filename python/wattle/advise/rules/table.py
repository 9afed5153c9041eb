"""The table of rules, in the order in which they claim call sites.

A call site whose time one finding saves is not advised on again: the earlier rule is the stronger change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wattle.advise.evidence import Evidence
from wattle.advise.finding import Finding
from wattle.advise.rules import (
    adjacent,
    barrier_before,
    barrier_of_neighbours,
    blocking_gets,
    broadcast_loop,
    flag,
    get_put,
    imbalance,
    late_receiver,
    quiet_each,
    reductions,
    send_loop,
    small_sends,
    unchanged,
    wait_setting,
    windows,
)

Rule = Callable[[Evidence], Iterator[Finding]]
RULES: dict[str, Rule] = {
    rule.NAME: rule.find
    for rule in (
        get_put,
        flag,
        broadcast_loop,
        adjacent,
        quiet_each,
        unchanged,
        small_sends,
        send_loop,
        windows,
        barrier_before,
        barrier_of_neighbours,
        reductions,
        blocking_gets,
        late_receiver,
        imbalance,
        wait_setting,
    )
}
