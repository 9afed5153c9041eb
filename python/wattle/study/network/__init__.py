"""A network description that is fitted to two nodes of this machine, and how near its simulation comes to them."""
