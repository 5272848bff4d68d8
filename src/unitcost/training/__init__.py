"""What a training run will cost, on which capacity, and what stopping early would save. Pure."""
