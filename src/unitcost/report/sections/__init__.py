"""One function per section of the report: input in, section out."""
