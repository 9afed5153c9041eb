"""The command `wattle collect`: the manifest of a run that another launcher started."""
