"""The study of two-sided messages by TCP and InfiniBand, eager and rendezvous, in bytes per joule. Simulated."""
