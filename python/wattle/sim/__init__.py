"""Simulation: the simulated cluster and node (cluster, node), the simulator's input file (platform) and the command
(cli).
"""
