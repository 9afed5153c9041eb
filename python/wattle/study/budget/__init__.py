"""A power budget of a whole job beside equal caps of its packages, and beside an optimum from the true loads."""
