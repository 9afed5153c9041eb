"""PEs that wait for some of the others: each mode's saving beside that of an oracle of clocks."""
