"""The benchmarks of `make bench`: this OpenSHMEM and Debian's, compared in pairs of runs. run.py is the command."""
