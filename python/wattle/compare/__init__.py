"""`wattle compare`: shows two runs or two studies side by side, and whether their differences are more than noise."""
