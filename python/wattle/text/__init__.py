"""Prints: the console, tables, numbers with their units, joules with their provenance."""
