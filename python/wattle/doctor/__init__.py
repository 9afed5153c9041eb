"""`wattle doctor`: lists what can be measured and controlled here, and for the rest the reason and a safe remedy."""
