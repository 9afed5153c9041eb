"""`wattle doctor`: what can be measured and controlled here; what not, why, and how it can be granted safely."""
