"""`wattle history`: shows the time and joules of runs by commit, host and date."""
