"""What a model asks of hardware: operations, memory. Pure."""
