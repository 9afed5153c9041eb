"""`wattle reproduce`: all studies in one directory, one page of all published figures, and an archive of the data."""
