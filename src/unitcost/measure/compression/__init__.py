"""Smaller and faster forms of a model: each is made, opened again, run and compared, or says why it could not be made."""
