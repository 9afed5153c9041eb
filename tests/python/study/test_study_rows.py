"""Every published row of every study can fail: there are samples under which it differs. No claim of an effect agrees
where there is none.
"""

from __future__ import annotations

import made_rows
import pytest
from wattle.study import published, registry
from wattle.study.published import Verdict

STUDIES = [name for name in registry.names() if (registry.HERE / name / "published.toml").exists()]

# Statements without a number, or of a machine that the text does not name. They are shown and never judged.
NEVER_JUDGED = {
    "barrier/time-slope",
    "mst/versions",
    "patterns/floor",
    "patterns/payload",
    "protocols/pinning",  # by the prices of a cluster alone (test_study_protocols.py)
}

# Statements that follow from the input of the study's program.
NEVER_AGREES = {"race/process-groups"}

# Statements that something has no effect, or no more than some. With samples in which all is alike they agree.
CLAIMS_NO_EFFECT = {
    "am/ring-alike",
    "barrier/power-constant",
    "budget/drifting",
    "budget/equal-caps",
    "budget/kept",
    "budget/static",
    "fragments/energy-bulk-flat",
    "fragments/energy-small-flat",
    "mst/bar-right",
    "patterns/pin-cpu-small",
    "patterns/pin-latency-small",
    "race/hybrid-time",
    "race/job-memory",
    "receiver/agent-edp-2.4-many",
    "receiver/direct-latency",
    "receiver/direct-sender",
    "receiver/direct-sender-dram",
    "receiver/phase-a",
    "receiver/phase-b",
    "receiver/phase-d",
    "receiver/phase-f",
    "slack/bar-too-short",
    "tsp/am-close-14",
    "tsp/am-close-15",
    "tsp/bar-asleep",
    "tsp/bar-mpi-14",
    "tsp/bar-mpi-15",
}


def with_verdict(name: str, verdict: Verdict, analyses: list) -> set[str]:
    """The rows that get the verdict from one of the samples."""
    rows = [row for make in analyses for row in made_rows.judged(name, make()).values()]
    return {f"{name}/{row.id}" for row in rows if row.verdict is verdict}


def all_of(name: str) -> set[str]:
    return {f"{name}/{row.id}" for row in made_rows.rows_of(name)}


@pytest.mark.parametrize("name", STUDIES)
def test_each_row_differs_under_samples_made_to_contradict_it(name):
    assert name in made_rows.MADE, "add samples of this study to tests/support/made_rows.py"
    without = all_of(name) - with_verdict(name, Verdict.WORSE, made_rows.MADE[name].bad) - NEVER_JUDGED
    assert without == set(), "no samples make these rows differ"


@pytest.mark.parametrize("name", STUDIES)
def test_no_claim_of_an_effect_agrees_where_all_is_alike(name):
    found = with_verdict(name, Verdict.SAME, [made_rows.MADE[name].nothing])
    assert found <= CLAIMS_NO_EFFECT
    assert {row for row in CLAIMS_NO_EFFECT if row.startswith(f"{name}/")} <= found


def test_rows_that_are_never_judged_are_few_and_give_a_reason():
    for row in NEVER_JUDGED:
        name, _, which = row.partition("/")
        for make in (*made_rows.MADE[name].bad, made_rows.MADE[name].nothing):
            found = made_rows.judged(name, make())[which]
            assert found.verdict is Verdict.NOT_TESTABLE and found.why


@pytest.mark.parametrize("name", [name for name in STUDIES if name in made_rows.MADE and made_rows.MADE[name].good])
def test_each_row_agrees_under_samples_like_the_papers(name):
    agreeing = with_verdict(name, Verdict.SAME, made_rows.MADE[name].good)
    assert all_of(name) - agreeing == {row for row in NEVER_JUDGED | NEVER_AGREES if row.startswith(f"{name}/")}


def test_published_figures_that_contradict_each_other_say_so_on_both_sides():
    for name in STUDIES:
        against = {row.id: set(row.against) for row in made_rows.rows_of(name)}
        for one, others in against.items():
            assert all(one in against[other] for other in others if " " not in other), f"{name}/{one}"
        samples = [make() for make in (made_rows.MADE[name].nothing, *made_rows.MADE[name].bad)]
        for row in (row for made in samples for row in published.judge(made_rows.rows_of(name), made)):
            if against[row.id]:
                assert "contradict each other" in row.why
                assert row.verdict not in (Verdict.BETTER, Verdict.WORSE, Verdict.OTHER_MACHINE)
    order = {row.id: row for row in made_rows.rows_of("patterns")}["order-latency-bulk"]
    assert order.against == ("aggregate-latency-few",)
