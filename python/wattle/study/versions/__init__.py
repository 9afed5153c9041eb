"""What studies of a mini-app share: its versions side by side, by number of PEs."""
