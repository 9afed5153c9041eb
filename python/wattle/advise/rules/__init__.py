"""The rules, each in a file of its own. A rule has a NAME and a function `find`, which yields findings."""
