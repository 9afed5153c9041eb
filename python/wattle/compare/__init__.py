"""`wattle compare`: two runs or two studies side by side, and whether what differs is more than noise."""
