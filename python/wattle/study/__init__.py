"""Studies: a folder each, with what to run, how to read the samples, the published figures and the page; `registry.py`
finds them.

What studies share stands beside the folders; `sweep` and `versions` are what a family of them shares. A study's page is
made of `wattle.html`. `wattle.report`, the command, imports studies; no study imports it.
"""
