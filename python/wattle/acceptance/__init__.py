"""`wattle acceptance`: tests this machine and writes all results into one file."""
