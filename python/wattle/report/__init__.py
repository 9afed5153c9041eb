"""`wattle report`: writes one self-contained page of a run, a study or a benchmark. A study's page is in its own folder
(`wattle.study`).
"""
