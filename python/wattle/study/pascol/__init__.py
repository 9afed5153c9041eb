"""A power-aware one-sided library: displaced rings of put, get, accumulate and strided put, in four schemes."""
