"""Studies: each is one file that says what to run, how to read the samples, and which published figures they are held
against."""
