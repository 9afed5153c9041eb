"""The command `wattle export`: a run in the formats of other tools."""
