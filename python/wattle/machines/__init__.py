"""The command `wattle machines`: the table of CPUs behind modelled joules, and its predictions of watts."""
