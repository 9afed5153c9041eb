"""`wattle run`: runs a program with its own standard streams, and then shows where its time and joules went."""
