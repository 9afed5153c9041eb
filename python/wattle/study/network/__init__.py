"""The study of a network description that is fitted to two nodes of this machine, and of the error of its
simulation.
"""
