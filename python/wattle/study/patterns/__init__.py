"""Data-access patterns: five ways of writing the same bytes to another PE, and what changing one into another
saves."""
