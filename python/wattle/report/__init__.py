"""`wattle report`: a run or study directory as one self-contained page that a person wants to look at. Pages of studies
are in their folders (`wattle.study`)."""
