"""Readers of what is known about work: schedulers, trackers, monitoring, storage. One file each."""
