"""`wattle top`: shows where running PEs wait."""
