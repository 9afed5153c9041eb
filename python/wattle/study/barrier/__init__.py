"""The study of waiting at a barrier: by the length of the wait, and by the number of PEs that wait."""
