"""The event loop of the simulator: compiled functions over plain arrays."""
