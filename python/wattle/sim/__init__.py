"""Simulation: what is simulated (cluster, node), the file that tells the simulator (platform), the command (cli)."""
