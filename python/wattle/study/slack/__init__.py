"""Early and late PEs at a barrier, under each wait policy, mode and scaling."""
