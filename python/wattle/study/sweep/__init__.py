"""What studies of waiting and clocks share: one program or more, run under each wait policy, mode and clock."""
