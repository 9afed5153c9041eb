"""Knows this machine and its neighbours: processors, launchers, nodes, batch systems, tools, other programs."""
