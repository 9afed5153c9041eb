"""Five patterns of one-sided writes, four transformations: energy, latency, bandwidth, message rate, EDP."""
