"""Clocks under a put: three ways of receiving, by how the receiver waits and at which clock."""
