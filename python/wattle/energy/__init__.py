"""The command `wattle energy`: the joules of any program."""
