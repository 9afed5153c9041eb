"""The study of data-access patterns: five ways of writing the same bytes to another PE, and the savings between
them.
"""
