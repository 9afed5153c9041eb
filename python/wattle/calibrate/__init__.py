"""`wattle calibrate`: what ways of waiting cost on this machine, measured, shown and kept for programs."""
