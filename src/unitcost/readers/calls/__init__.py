"""Readers of calls of models: what gateways, tracers and providers tell of them."""
