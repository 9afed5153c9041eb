"""The benchmarks of `make bench`: this OpenSHMEM beside Debian's, in pairs. run.py is the command."""
