"""External meters: joules of a run or study from the log of a power logger with a clock of its own."""
