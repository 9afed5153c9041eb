"""Reads and writes what a run leaves: manifest, profiles of PEs, timelines, watts."""
