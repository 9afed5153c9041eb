"""Common parts of studies of waiting and clocks, whose jobs run under each wait policy, mode and clock."""
