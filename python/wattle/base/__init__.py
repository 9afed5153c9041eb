"""Errors, limits, files and their checks, and the packages of the extra `lab`. All other rooms use them."""
