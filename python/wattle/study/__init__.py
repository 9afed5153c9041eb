"""Studies, one folder each: plan, jobs, samples, analysis, published figures and page. `registry.py` finds the folders.

Modules that studies share stand beside the folders; `engine.py` runs, reads and judges all studies. `sweep` and
`versions` hold the common parts of two families of studies. The page of a study uses `wattle.html`. `wattle.report`,
the command, imports studies; no study imports it.
"""
