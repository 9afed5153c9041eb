"""A power-aware one-sided library: from which size on it pays to sleep, and to lower the clock, during a transfer."""
