"""The study of a power-aware one-sided library: from which size sleeping and a lower clock save energy in a
transfer.
"""
