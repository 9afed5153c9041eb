"""Clocks under a put: three ways of receiving, by the receiver's wait policy and clock."""
