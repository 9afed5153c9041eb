"""`wattle calibrate`: measures the prices of the ways to wait on this machine, shows them and keeps them for
programs.
"""
