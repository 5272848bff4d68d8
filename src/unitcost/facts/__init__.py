"""Nouns of the field as frozen dataclasses. Pure: no files, no clocks, no frameworks."""
