"""The answer of `wattle-calibrate` as tests make it: prices of a machine that does not exist."""


def cell(median=38.5e-6, applies=True, why=None, **more):
    known = {} if median is None else {"median_s": median, "quarter_s": median / 2, "three_quarters_s": median * 2}
    return {"applies": applies, "why": why, "samples": 0 if median is None else 227} | known | more


def document(**changes):
    return {
        "schema": 1,
        "kind": "prices",
        "machine": {"host": "node0", "cpu": "a CPU (0x1)", "kernel": "6.1", "cores": 2},
        "how": {"cores": [0, 1], "threads_of_one_core": False, "lowpower": "none", "no_lowpower": "no instruction"},
        "prices": {
            "spin_other": {"what": "store seen by another core", "idle": cell(89e-9), "peer": cell(None, False)},
            "lowpower_wake": {
                "what": "low-power wait, woken",
                "idle": cell(None, why="no instruction"),
                "peer": cell(None, False),
            },
            "futex_other": {"what": "futex wake, another core", "idle": cell(), "peer": cell(17.7e-6)},
            "membarrier": {
                "what": "membarrier, its caller",
                "idle": cell(5e-7),
                "peer": cell(None, why="membarrier: Operation not permitted"),
            },
        },
        "load": {"wall_s": 2.5, "others_cores": 0.01, "stolen_cores": 0.0},
    } | changes
