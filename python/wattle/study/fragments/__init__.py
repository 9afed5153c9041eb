"""The study of payload and fragments: the cost of the same bytes by one call or by many."""
