"""From figures to what a person reads: tables, charts, one-file HTML, JSON, csv. Pure."""
