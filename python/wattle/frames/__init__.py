"""Tables of a run with documented columns, for `import wattle` and `wattle export`."""
