"""Caches of predictions: what is found again, how often what is found is wrong, and what it saves."""
