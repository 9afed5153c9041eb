"""The command `wattle external`: joules of a run or study that has ended, from the log of an external meter."""
