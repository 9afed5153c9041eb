"""The table of rules, in the order in which they claim call sites.

A call site whose time one finding saves is not advised on again: the earlier rule is the stronger change. Causes stand
before their symptoms.
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
    flag,
    get_put,
    imbalance,
    late_receiver,
    quiet_each,
    reductions,
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
        adjacent,
        quiet_each,
        unchanged,
        small_sends,
        windows,
        barrier_before,
        barrier_of_neighbours,
        reductions,
        blocking_gets,
        imbalance,
        late_receiver,
        wait_setting,
    )
}
# Rules whose findings are symptoms of another rule's, which names them. They find nothing where that one does.
CAUSES = {late_receiver.NAME: imbalance.NAME}
