"""The measuring bench: runs real models and endpoints, makes smaller models, and holds what was measured. Shell."""
