"""Common parts of studies of a mini-app: its versions side by side, by number of PEs."""
